import ArgumentParser
import PushModel
import PushWorker
import Topology
import WorkerSettings

/// `martlet topology`: renders, applies and checks exchanges, queues, bindings and policies.
struct TopologyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topology",
        abstract: "Render, apply and check the broker's exchanges, queues, bindings and policies.",
        discussion: """
            A worker declares nothing. These commands make what the routes of its configuration need. Apply and check \
            use RabbitMQ's management API (broker.management; by default the broker's host and login).

            Examples:
              martlet topology render -c worker.yaml > definitions.json
              rabbitmqctl import_definitions < definitions.json
              martlet topology apply -c worker.yaml
              martlet topology check -c worker.yaml
            """,
        subcommands: [Render.self, Apply.self, Check.self])

    /// `martlet topology render`.
    struct Render: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Print a definitions file for rabbitmqctl import_definitions or load_definitions.",
            discussion: """
                With --users it holds one user per role (producer, worker, monitor, replayer, operator, topology). \
                Their passwords are new each time and told once, on standard error; the file holds salted hashes only.
                """)

        @OptionGroup var source: ConfigurationOptions
        @Flag(help: "Add one user per role, with a new password each.") var users = false

        var namedBroker: String? { nil }
        var namedConfiguration: String? { source.config }

        func run() throws {
            let topology = try source.load(for: .broker, connects: false).topology()
            let accounts = users ? try BrokerRole.allCases.map(BrokerAccount.new) : []
            let text = topology.definitions(users: accounts.map(\.user))
            for account in accounts { Console.talk("\(account.user.name)  \(account.password)") }
            // The text ends with a line end, and so does every printed line. One of the two must go.
            Console.data(Array(text.utf8.dropLast()))
        }
    }

    /// `martlet topology apply`.
    struct Apply: AsyncParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Make what is missing, change policies, move bindings, and remove stale ones last.",
            discussion: """
                Queues and exchanges are never deleted: what only that could change is reported. Bindings that are not \
                wanted any more are removed after a question; those of routes which this configuration does not have \
                stay, because another configuration may have them, unless --prune is given. A topic that moved from \
                one route to another is moved so that each job goes to one of them. It can be ended at any time and \
                done again.
                """)

        @OptionGroup var source: ConfigurationOptions
        @OptionGroup var format: OutputOptions
        @Flag(help: "Do not ask before stale bindings are removed.") var yes = false
        @Flag(help: "Remove bindings of routes that this configuration does not have, too.") var prune = false

        var namedBroker: String? { nil }
        var namedConfiguration: String? { source.config }

        func run() async throws {
            let configuration = try source.load(for: .broker)
            let topology = try configuration.topology()
            let client = try configuration.managementClient()
            let done: ManagementClient.Application
            let live = try await client.picture(of: topology.virtualHost)
            let stale = topology.compared(with: live).removableBindings(prunes: prune)
            if !yes, !stale.isEmpty {
                for binding in stale {
                    Console.talk("stale: \(binding.source) -> \(binding.destination) by \(binding.routingKey)")
                }
                try Console.confirm("Remove \(stale.count) bindings that this configuration does not want?")
            }
            do throws(ManagementError) {
                // What becomes stale while the question waits was not asked about.
                done = try await client.apply(topology, prunes: prune, removing: yes ? nil : stale)
            } catch {
                throw CommandFailure(error)
            }
            let admin = AdminCommands(client.location, virtualHost: topology.virtualHost)
            for row in done.mended { row.print("mended", format.output, admin) }
            for row in done.remaining { row.print("remains", format.output, admin) }
            try Console.flush()
            Console.talk("\(client.place): \(done.mended.count) mended, \(done.remaining.count) remaining")
            if !done.remaining.isEmpty { throw CommandStatus.someFailed }
        }
    }

    /// `martlet topology check`.
    struct Check: AsyncParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Compare what the broker holds with what it should, and print the command that mends each row.",
            discussion: """
                Changes nothing. The exit status is 1 if anything differs. Commands are for rabbitmqadmin, in the syntax \
                of version 2 (v2) and of version 1 (v1), and take the password from RABBITMQADMIN_PASSWORD.

                What others made is shown, too, where it changes or enters the topology: operator policies, and \
                exchanges, bindings and dead letters that lead in. Workers refuse jobs that come by other exchanges \
                than \(TopologyNames.jobs) and those of jobs.from: run the check with --for-upgrade before the first \
                worker of a version that does so.
                """)

        @OptionGroup var source: ConfigurationOptions
        @OptionGroup var format: OutputOptions
        @Flag(help: "Show only by which ways of others jobs come, each with the line to add to jobs.from.")
        var forUpgrade = false

        var namedBroker: String? { nil }
        var namedConfiguration: String? { source.config }

        func run() async throws {
            let configuration = try source.load(for: .broker)
            let topology = try configuration.topology()
            let client = try configuration.managementClient()
            let comparison = topology.compared(with: try await client.picture(of: topology.virtualHost))
            let rows = forUpgrade ? comparison.foreignWays : comparison.drift
            let good = forUpgrade ? "nothing of others leads in" : "as it should be"
            Console.talk("\(client.place): \(rows.isEmpty ? good : TopologyDrift.summary(of: rows))")
            let admin = AdminCommands(client.location, virtualHost: topology.virtualHost)
            for row in rows { row.print(nil, format.output, admin) }
            try Console.flush()
            if forUpgrade {
                if !rows.isEmpty { throw CommandStatus.someFailed }
                return
            }
            if format.output == .text, let hint = TopologyDrift.hint(rows, admin) { Console.talk(hint) }
            let leaders = comparison.leaders
            if !leaders.isEmpty {
                Console.talk("leaders of queues: \(leaders.map { "\($0.node) \($0.queues)" }.joined(separator: ", "))")
            }
            if let most = leaders.map(\.queues).max(), most * leaders.count > 2 * leaders.reduce(0, { $0 + $1.queues })
            {
                Console.talk("one node leads more than twice its share: rabbitmq-queues rebalance quorum spreads them")
            }
            let permissions = try await client.permissions(virtualHost: topology.virtualHost) ?? []
            let overlaps = UserPermissions.overlaps(among: permissions, virtualHost: topology.virtualHost)
            overlaps.forEach(Console.talk)
            if !rows.isEmpty || !overlaps.isEmpty { throw CommandStatus.someFailed }
        }
    }
}
