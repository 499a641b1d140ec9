import ArgumentParser
import Glibc
import PushModel
import Rig
import Text
import Topology

extension DeadCommand {
    /// `martlet dead tokens`: the device tokens that APNs calls dead.
    struct Tokens: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Count the device tokens that APNs calls dead, or export them for a database.",
            discussion: """
                --export prints a line for each device token of a topic, however many letters it has, with the latest \
                time at which it died. As text that is token, topic, environment, time and action, with tabs between.

                Device tokens on hold may be alive. They are left out, and counted: those whose letter says hold, and \
                those of letters up to an hour before such a letter of the same topic. A hold may still follow a \
                letter that is younger than an hour: leave it out with --older-than 1h. Holds count from all letters: \
                where not all can be read, nothing is exported.

                Letters stay in the queue unless --drain is given. It takes out those whose device tokens were printed, \
                after the last line is written. Ended half way, all letters stay.

                The user apns-replayer may do this. Examples:
                  martlet dead tokens
                  martlet dead tokens --export --older-than 1h -o json > dead.jsonl
                  martlet dead tokens --export --older-than 1h --drain --yes > dead.tsv
                """)

        @Flag(help: "Print the device tokens, one a line.") var export = false
        @Flag(help: "Print those on hold, too, with the action hold.") var held = false
        @Flag(help: "Take the letters of what was printed out of the queue.") var drain = false
        @Flag(help: "Do not ask before --drain takes letters away.") var yes = false
        @Option(help: "Export no more letters than this.") var limit: Int?
        @OptionGroup var filter: LetterFilter
        @OptionGroup(title: "Broker") var broker: BrokerOptions
        @OptionGroup var format: OutputOptions

        var namedBroker: String? { broker.broker }

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
            if held || drain, !export { throw ValidationError("--held and --drain belong to --export.") }
            if yes, !drain { throw ValidationError("--yes belongs to --drain; nothing else takes letters away.") }
        }

        func run() throws {
            let queue = TopologyNames.deadTokensQueue
            let routes = try filter.routes()
            let link = try CommandConnection.open(broker.target)
            // Closing the link gives back the letters that are not acknowledged.
            defer { link.close() }
            if drain {
                if !yes { try Console.confirm("Take letters out of \(queue)?") }
                // If the reader of the output goes away, a failed write must end the command: then the letters stay.
                signal(SIGPIPE, SIG_IGN)
            }
            Interrupt.watch()
            let now = JobIdentifier.now()
            var (list, unreadable) = (DeadTokenList(), 0)
            let reading = try DeadCommand.read(queue, over: link) { letter throws(CommandFailure) in
                guard let tokens = DeadTokenLetter(letter, now: now) else {
                    unreadable += 1
                    return
                }
                // Holds count from all letters, also from those that are not wanted.
                let hasRoom = list.letterCount < limit ?? .max
                list.add(tokens, isWanted: hasRoom && filter.admits(letter, of: routes, now: now))
            }
            // The letters that were not read are the newest. There may be a hold among them.
            let consequence = "nothing is exported, and all letters stay"
            if let failure = reading.failure(consequence) { throw failure }
            if Interrupt.isRequested { throw CommandFailure(.gaveUp, "ended half way: \(consequence) in \(queue)") }
            if export { try exportTokens(of: list) } else { showCounts(of: list) }
            try Console.flush()
            let (looked, seen) = (TimeText.count(list.letterCount), TimeText.count(reading.seen))
            var note = "\(looked) of \(seen) letters in \(queue) looked at"
            if drain {
                let letters = list.settled(includingHeld: held)
                for letter in letters { try link.acknowledge(letter, upToHere: false) }
                note += ", \(TimeText.count(letters.count)) taken out"
            }
            try link.stopConsuming()
            Console.talk(note)
            if unreadable > 0 { Console.talk("not readable, and left where they are: \(TimeText.count(unreadable))") }
        }

        private func exportTokens(of list: DeadTokenList) throws(CommandFailure) {
            for token in list.tokens(includingHeld: held) {
                Console.data(format.output == .text ? token.line : token.json.bytes)
                if let failure = Console.failure { throw failure }
            }
            let left = held ? 0 : list.counts.reduce(0) { $0 + $1.held }
            if left > 0 {
                Console.talk("on hold, and left out: \(TimeText.count(left)) (they may be alive; --held prints them)")
            }
        }

        private func showCounts(of list: DeadTokenList) {
            for count in list.counts {
                switch format.output {
                case .text:
                    Console.data(
                        "\(count.place.environment.padded(to: 11))  \(count.place.topic)  "
                            + "\(TimeText.count(count.dead)) dead, \(TimeText.count(count.held)) on hold")
                case .json:
                    Console.data(
                        JSON.object([
                            ("\(ResultField.environment.name)", .text(count.place.environment)),
                            ("\(ResultField.topic.name)", .text(count.place.topic)),
                            ("dead_tokens", .integer(Int64(count.dead))), ("held_tokens", .integer(Int64(count.held))),
                        ]).bytes)
                }
            }
        }
    }
}
