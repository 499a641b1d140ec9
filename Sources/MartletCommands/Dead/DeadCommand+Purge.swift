import ArgumentParser
import EventLoop
import Text

extension DeadCommand {
    /// `martlet dead purge`: deletes letters.
    struct Purge: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Delete dead letters for good.",
            discussion: """
                The user apns-replayer may do this. Examples:
                  martlet dead purge --older-than 14d --dry-run
                  martlet dead purge --outcome rejected --reason BadTopic --rate 500 --yes
                """)

        @OptionGroup var selection: Selection
        @Flag(help: "Delete all letters of the queue.") var all = false
        @Option(help: "Delete no more letters than this.") var limit: Int?
        @Option(help: "At most so many letters a second, 0.01 or more.") var rate: Double?
        @Flag(help: "Only say what would be deleted.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false
        @OptionGroup(title: "Broker") var broker: BrokerOptions

        var namedBroker: String? { broker.broker }

        func validate() throws {
            try selection.requireChoice(all: all)
            if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
            if let rate, !(rate >= 0.01) { throw ValidationError("--rate must be 0.01 or more.") }
        }

        func run() throws {
            let link = try CommandConnection.open(broker.target, heartbeat: rate == nil)
            // Closing the link gives back the letters that are not acknowledged.
            defer { link.close() }
            if !yes, !dryRun { try Console.confirm("Delete dead letters of \(selection.name) for good?") }
            var (count, progress, pacer) = (0, ProgressLine(enabled: true), rate.map(Pacer.init))
            let reading = try DeadCommand.read(selection, link) { letter throws(CommandFailure) in
                guard count < limit ?? .max else { return }
                count += 1
                if dryRun { return Console.data(letter.line) }
                if let wait = pacer?.wait(now: .now()), wait > .zero { try link.pause(wait) { _ in } }
                try link.acknowledge(letter.message, upToHere: false)
                progress.show("\(TimeText.count(count)) deleted")
            }
            progress.clear()
            try link.stopConsuming()
            Console.talk(
                "\(TimeText.count(count)) of \(TimeText.count(reading.seen)) dead letters in \(selection.name) "
                    + (dryRun ? "would be deleted" : "deleted"))
            try reading.finish("the newest stay")
        }
    }
}
