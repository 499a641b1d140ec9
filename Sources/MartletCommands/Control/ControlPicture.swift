import PushWorker
import Rig
import Topology

/// What the stream of operators' commands says: a value that its messages are added to, in their order.
struct ControlPicture: Sendable, Equatable {
    /// A command, and whether it stands.
    struct Row: Equatable {
        /// The command.
        var command: ControlCommand
        /// Whether it stands.
        var stands: Bool
    }

    /// Where in the stream reading begins.
    static let offset = "first"
    /// How many of the latest commands are remembered, beside those that stand.
    static let mostRecent = 1_000

    /// How many messages were not commands.
    private(set) var unreadable = 0
    private var state = ControlState()
    private var said: [ControlCommand] = []
    private var ids: Set<String> = []

    /// Starts with nothing said.
    init() {}

    /// Takes a message of the stream.
    ///
    /// - Parameters:
    ///   - body: Its body. What it says a second time, as after a lost connection, is not news.
    ///   - now: Milliseconds since 1970.
    mutating func heard(_ body: [UInt8], at now: Int64) {
        guard let command = ControlCommand(parsing: body) else {
            unreadable += 1
            return
        }
        state.apply(command, at: now)
        guard ids.insert(command.id).inserted else { return }
        said.append(command)
        if said.count > Self.mostRecent { ids.remove(said.removeFirst().id) }
    }

    /// The commands that stand, in the order in which they were said.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func standing(at now: Int64) -> [ControlCommand] { state.inForce(at: now) }

    /// The commands that stand and the latest of the others, in the order in which they were said.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - recent: How many of those that do not stand are wanted at most.
    func rows(at now: Int64, recent: Int) -> [Row] {
        let standing = standing(at: now)
        let names = Set(standing.map(\.id))
        let over = Set(said.filter { !names.contains($0.id) }.suffix(recent).map(\.id))
        // What is not remembered was said before all that is.
        let early = standing.filter { !ids.contains($0.id) }.map { Row(command: $0, stands: true) }
        return early
            + said.filter { names.contains($0.id) || over.contains($0.id) }.map {
                Row(command: $0, stands: names.contains($0.id))
            }
    }

    /// Reads all that the stream holds; blocks.
    ///
    /// - Parameter link: A connection that takes nothing else.
    static func read(over link: CommandConnection) throws(CommandFailure) -> ControlPicture {
        var picture = ControlPicture()
        try link.consume(TopologyNames.controlQueue, prefetch: 200, from: offset)
        try link.readStream { picture.heard($0.body, at: JobIdentifier.now()) }
        return picture
    }
}
