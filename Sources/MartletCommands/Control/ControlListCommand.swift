import ArgumentParser
import PushWorker
import Rig
import Topology

/// `martlet control`: lists what operators asked all workers to do.
struct ControlListCommand: ParsableCommand, UsesContext {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "List the commands of martlet route and martlet campaign that are in force, and the latest others.",
        discussion: """
            Changes nothing. The commands are read from the stream \(TopologyNames.controlQueue), which keeps them for \
            30 days, oldest first. A star marks those that stand.

            The users apns-operator and apns-monitor may do this. Examples:
              martlet control
              martlet control --recent 0 -o json
            """)

    @Option(help: "Of those that do not stand, show so many at most, the latest.") var recent = 10
    @OptionGroup(title: "Broker") var broker: BrokerOptions
    @OptionGroup var format: OutputOptions

    var namedBroker: String? { broker.broker }

    func validate() throws {
        if !(0...ControlPicture.mostRecent).contains(recent) {
            throw ValidationError("--recent must be between 0 and \(ControlPicture.mostRecent).")
        }
    }

    func run() throws {
        let link = try CommandConnection.open(broker.target)
        defer { link.close() }
        Interrupt.watch()
        let picture = try ControlPicture.read(over: link)
        let rows = picture.rows(at: JobIdentifier.now(), recent: recent)
        for row in rows {
            switch format.output {
            case .text: Console.data("\(row.stands ? "*" : " ") \(row.command.sentence)", words: ControlCommand.deeds)
            case .json:
                Console.data(
                    JSON.object([("stands", .boolean(row.stands)), ("command", .verbatim(row.command.json))]).bytes)
            }
        }
        try Console.flush()
        let standing = rows.count { $0.stands }
        let unread = picture.unreadable > 0 ? "; \(picture.unreadable) messages there are no commands" : ""
        Console.talk("\(standing) \(standing == 1 ? "command stands" : "commands stand")\(unread)")
    }
}
