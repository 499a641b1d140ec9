import PushWorker
import Rig
import Topology

/// What the stream of operators' commands says. A value: the stream's messages are added to it in their order.
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

    /// Starts without any command.
    init() {}

    /// Takes a message of the stream.
    ///
    /// - Parameters:
    ///   - body: Its body. A command may come a second time after a lost connection, and is remembered once.
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

    /// The commands that stand, in the order in which they were given.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func standing(at now: Int64) -> [ControlCommand] { state.inForce(at: now) }

    /// The commands that stand and the latest of the others, in the order in which they were given.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - recent: The most commands that are wanted of those that do not stand.
    func rows(at now: Int64, recent: Int) -> [Row] {
        let standing = standing(at: now)
        let names = Set(standing.map(\.id))
        let over = Set(said.filter { !names.contains($0.id) }.suffix(recent).map(\.id))
        // A standing command that is not remembered is older than all remembered ones.
        let early = standing.filter { !ids.contains($0.id) }.map { Row(command: $0, stands: true) }
        return early
            + said.filter { names.contains($0.id) || over.contains($0.id) }.map {
                Row(command: $0, stands: names.contains($0.id))
            }
    }

    /// Reads everything that the stream holds; blocks.
    ///
    /// - Parameter link: A connection that consumes nothing else.
    static func read(over link: CommandConnection) throws(CommandFailure) -> ControlPicture {
        var picture = ControlPicture()
        try link.consume(TopologyNames.controlQueue, prefetch: 200, from: offset)
        try link.readStream { picture.heard($0.body, at: JobIdentifier.now()) }
        return picture
    }
}
