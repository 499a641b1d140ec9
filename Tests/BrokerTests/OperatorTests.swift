import BrokerClient
import Foundation
import LocalStack
import MartletCommands
import PushModel
import PushWorker
import RabbitMQ
import Rig
import Synchronization
import TLS
import Testing
import Topology

@Suite("What operators ask of all workers, at a real broker", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct OperatorTests {
    /// What a program printed about a command that it published.
    private struct Published: Decodable {
        struct Command: Decodable {
            var id: String
        }

        var published: Bool
        var command: Command
        var standing: [Command]?
    }

    /// A line of `martlet control`.
    private struct Listed: Decodable {
        var stands: Bool
        var command: Published.Command
    }

    /// A command line, and the command that it publishes, but for its id and times.
    struct Row: Sendable, CustomTestStringConvertible {
        var words: [String]
        var action: ControlCommand.Action
        var target: ControlCommand.Target
        /// How long it lasts, in milliseconds; nil for no end.
        var lasts: Int64?
        var perSecond: Double?
        var leavesDeadLetters = false

        var testDescription: String { words.joined(separator: " ") }
    }

    static let rows: [Row] = [
        Row(
            words: ["route", "pause", "shop", "--for", "2h"], action: .pause, target: .route("shop"), lasts: 7_200_000),
        Row(words: ["route", "resume", "shop"], action: .resume, target: .route("shop")),
        Row(words: ["route", "rate", "shop", "500/s"], action: .rate, target: .route("shop"), perSecond: 500),
        Row(words: ["route", "rate", "shop", "off"], action: .rate, target: .route("shop")),
        Row(words: ["route", "trust", "shop"], action: .trust, target: .route("shop")),
        Row(
            words: ["campaign", "pause", "campaign-7/", "--until", "+30m"], action: .pause,
            target: .campaign("campaign-7/"), lasts: 1_800_000),
        Row(words: ["campaign", "resume", "campaign-7/"], action: .resume, target: .campaign("campaign-7/")),
        Row(
            words: ["campaign", "cancel", "campaign-8/", "--dead-letters"], action: .cancel,
            target: .campaign("campaign-8/"), leavesDeadLetters: true),
        Row(words: ["campaign", "cancel", "c9/", "--yes"], action: .cancel, target: .campaign("c9/")),
    ]

    @Test("Each command is in the stream as it was asked for, published by a user with an operator's rights")
    func published() throws {
        let broker = try Broker.start("operators")
        let reader = try broker.reader()
        defer { reader.close() }
        for row in Self.rows {
            let words = row.words + ["--reason", "why not", "--author", "anna@ops1", "-o", "json"]
            let outcome = try broker.run(words)
            #expect(outcome.status == 0, "\(row.testDescription): \(outcome.errorText)")
            let told = try JSONDecoder().decode(Published.self, from: Data(outcome.output))
            #expect(told.published && told.standing == nil)

            let delivery = try #require(try reader.receive(timeout: .seconds(20)), "\(row.testDescription)")
            try reader.acknowledge(delivery)
            let properties = try MessagePropertyReader(delivery.bytes, delivery.properties)
            func text(_ range: Range<Int>?) -> String? {
                range.map { String(decoding: delivery.bytes[$0], as: UTF8.self) }
            }
            #expect(text(properties.type) == "martlet.control" && text(properties.messageID) == told.command.id)
            #expect(text(properties.contentType) == "application/json")
            let command = try #require(ControlCommand(parsing: Array(delivery.bytes[delivery.body])))
            #expect(command.id == told.command.id && UUID(uuidString: command.id) != nil)
            #expect(command.action == row.action && command.target == row.target, "\(row.testDescription)")
            #expect(command.author == "anna@ops1" && command.reason == "why not")
            #expect(command.perSecond == row.perSecond && command.leavesDeadLetters == row.leavesDeadLetters)
            #expect((command.until == nil) == (row.lasts == nil), "\(row.testDescription)")
            // The end is counted a moment before the command is made.
            if let until = command.until, let lasts = row.lasts {
                #expect(abs(until - command.issuedAt - lasts) < 5_000, "\(row.testDescription)")
            }
        }
        let plain = try broker.run(["route", "resume", "shop"])
        #expect(plain.status == 0 && plain.text.hasPrefix("route shop: resumed by "), "\(plain.errorText)")
        let delivery = try #require(try reader.receive(timeout: .seconds(20)))
        let usual = try #require(ControlCommand(parsing: Array(delivery.bytes[delivery.body])))
        #expect(usual.author.contains("@") && usual.reason == nil && usual.until == nil)
    }

    @Test("A dry run publishes nothing and says what stands; the list has what stands and what was said lately")
    func listed() throws {
        let broker = try Broker.start("operators-list")
        for words in [
            ["route", "pause", "shop"], ["route", "rate", "shop", "5/s"], ["campaign", "pause", "campaign-7/"],
            ["campaign", "resume", "campaign-7/"],
        ] {
            #expect(try broker.run(words).status == 0)
        }
        let dry = try broker.run(["route", "rate", "shop", "off", "--dry-run", "-o", "json"])
        #expect(dry.status == 0, "\(dry.errorText)")
        let told = try JSONDecoder().decode(Published.self, from: Data(dry.output))
        #expect(!told.published && told.standing?.count == 2)
        let text = try broker.run(["campaign", "cancel", "c", "--dry-run"])
        #expect(text.status == 0 && text.text.hasPrefix("campaign c: cancelled by "), "\(text.errorText)")
        #expect(text.errorText.contains("  route shop: paused by ") && text.errorText.contains("nothing was published"))

        for role in [BrokerRole.operator, .monitor] {
            let list = try broker.run(["control", "-o", "json"], as: role)
            #expect(list.status == 0, "\(list.errorText)")
            let lines = try list.text.split(separator: "\n").map {
                try JSONDecoder().decode(Listed.self, from: Data($0.utf8))
            }
            #expect(lines.map(\.stands) == [true, true, false, false])
            #expect(Set(lines.map(\.command.id)).count == 4 && !lines.map(\.command.id).contains(told.command.id))
        }
        let standing = try broker.run(["control", "--recent", "0"])
        #expect(standing.text.split(separator: "\n").map { $0.hasPrefix("* route shop: ") } == [true, true])
        #expect(standing.errorText.contains("2 commands stand"))
    }

    @Test("Where workers read no commands, it says so and what makes the stream; who may not publish hears who may")
    func refused() throws {
        let broker = try Broker.start("operators-refused")
        let typo = try broker.run(["route", "pause", "shpo"])
        #expect(typo.status == 69 && typo.errorText.contains("no queue of a route \"shpo\""), "\(typo.errorText)")
        let worker = try broker.run(["route", "pause", "shop"], as: .worker)
        #expect(worker.status == 77 && worker.errorText.contains("apns-operator"), "\(worker.errorText)")

        _ = try broker.broker.control(["delete_queue", "-p", broker.virtualHost, TopologyNames.controlQueue])
        let unread = try broker.run(["route", "pause", "shop"])
        let dry = try broker.run(["route", "pause", "shop", "--dry-run"])
        let list = try broker.run(["control"])

        let bare = try Broker.start("operators-bare", isBare: true)
        let missing = try bare.run(["campaign", "pause", "campaign-7/"])
        for outcome in [unread, dry, missing] {
            #expect(outcome.status == 69 && outcome.text.isEmpty, "\(outcome.errorText)")
            #expect(outcome.errorText.contains("no workers read this"), "\(outcome.errorText)")
            #expect(outcome.errorText.contains("martlet topology apply"), "\(outcome.errorText)")
        }
        #expect(list.status == 69 && list.errorText.contains("martlet topology apply"), "\(list.errorText)")
    }

    @Test("With a worker's rights no queue fails the check: the broker shows it, or does not show it to this user")
    func check() throws {
        let broker = try Broker.start("operators-check")
        let directory = try TemporaryDirectory(prefix: "martlet-check")
        let key = try directory.write(try ES256PrivateKey.generate().pem, to: "AuthKey_MARTLET001.p8")
        // Nobody answers for APNs.
        let file = try directory.write(
            """
            broker: { uri: "\(try broker.uri(.worker))" }
            apns: { development: "https://localhost:1" }
            credentials:
              - { name: local, kind: token, key_file: "\(key)", key_id: MARTLET001, team_id: MARTLETDEV }
            routes:
              - { name: shop, environment: development, topics: [com.example.shop], credential: local }
            retry: { tiers: [2s] }

            """, to: "martlet.yaml")
        let outcome = try broker.run(["check", "--config", file, "--timeout", "2s"], as: .worker)
        let lines = outcome.text.split(separator: "\n").filter { $0.contains("  queue ") }
        // The virtual host lacks the tiers of jobs that are published early.
        let failed = lines.filter { $0.hasPrefix("failed") && !$0.contains("NOT_FOUND") }
        #expect(lines.count > 5 && failed.isEmpty, "\(outcome.text)")
        #expect(lines.contains { $0.hasPrefix("ok ") && $0.contains("queue apns.q.jobs.shop ") }, "\(outcome.text)")
    }

    /// A virtual host of the ring's broker with the contract's objects and a user per role, just as
    /// `topology render --users` writes them.
    private struct Broker {
        let broker: PrivateBroker
        let virtualHost: String
        let accounts: [BrokerRole: BrokerAccount]

        /// Makes it.
        ///
        /// - Parameters:
        ///   - virtualHost: Its name.
        ///   - isBare: Whether it has users only.
        static func start(_ virtualHost: String, isBare: Bool = false) throws -> Broker {
            let broker = try RingBroker.broker.get()
            let roles = [BrokerRole.operator, .monitor, .worker]
            let accounts = Dictionary(uniqueKeysWithValues: try roles.map { ($0, try BrokerAccount.new($0)) })
            // Users are the broker's, and other suites make some of the same names.
            let users = accounts.mapValues { account in
                BrokerUser(
                    name: "\(account.user.name)-\(virtualHost)", role: account.user.role,
                    passwordHash: account.user.passwordHash)
            }
            let topology = BrokerTopology(
                routes: [TopologyRoute(name: "shop", environment: .development, topics: ["com.example.shop"])],
                tiers: [RetryTier(milliseconds: 2_000)], virtualHost: virtualHost)
            var definitions = Array(topology.definitions(users: Array(users.values)).utf8)
            if isBare {
                let all = try JSONSerialization.jsonObject(with: Data(definitions)) as? [String: Any] ?? [:]
                let some = all.filter { ["vhosts", "users", "permissions"].contains($0.key) }
                definitions = [UInt8](try JSONSerialization.data(withJSONObject: some))
            }
            try BrokerStack.importing.withLock { _ in try broker.importDefinitions(json: definitions) }
            return Broker(broker: broker, virtualHost: virtualHost, accounts: accounts)
        }

        /// The broker's URI for a role.
        func uri(_ role: BrokerRole) throws -> String {
            let account = try #require(accounts[role])
            let login = "\(account.user.name)-\(virtualHost):\(account.password)"
            return "amqp://\(login)@127.0.0.1:\(broker.port)/\(virtualHost)"
        }

        /// Runs the program to its end.
        func run(_ words: [String], as role: BrokerRole = .operator) throws -> ChildProcess.Outcome {
            try ChildProcess.run(
                try LocalRun.executable(), words, environment: ["MARTLET_BROKER_URI": try uri(role)],
                timeout: .seconds(50))
        }

        /// A client that takes what is in the stream, from its beginning.
        func reader() throws -> AMQPBlockingClient {
            let client = try AMQPBlockingClient.connect(
                try AMQPEndpoint.parse(uri: uri(.monitor)), clientName: "operators")
            var arguments = FieldTable()
            arguments.entries = [.init(name: Array("x-stream-offset".utf8), value: .text("first"))]
            try client.startConsuming(queue: TopologyNames.controlQueue, arguments: arguments)
            return client
        }
    }
}
