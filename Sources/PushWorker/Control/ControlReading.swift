import EventLoop

/// What was read of the stream `apns.q.control` on one connection, and whether that is all of it. Pure: time comes in.
///
/// A stream does not say where it ends. What stands in it comes at once, so a stream that is quiet has been read.
struct ControlReading {
    /// For how long nothing may arrive before the stream counts as read.
    static let quietTime = Duration.seconds(1)
    /// How long the first message may take. A broker with much to do begins late.
    static let firstPatience = Duration.seconds(2)
    /// How long it may take where the broker counts no messages. Its count is some seconds old, so a command may come after
    /// all.
    static let emptyPatience = Duration.milliseconds(200)
    /// After how long the stream counts as read although it is not quiet: somebody floods it.
    static let longestReplay = Duration.seconds(10)

    /// What the commands that were read amount to.
    private(set) var state = ControlState()
    /// Whether everything has been read that stood in the stream.
    private(set) var isComplete = false
    /// How many messages were not commands.
    private(set) var ignored = 0
    /// Commands that came since the stream was read, and that nobody took out yet.
    private var fresh: [ControlCommand] = []
    private let beganAt: MonotonicTime
    private let firstPatience: Duration
    private var heardAt: MonotonicTime?

    /// Nothing has been read.
    ///
    /// - Parameters:
    ///   - now: The time at which the first message was asked for.
    ///   - isCountedEmpty: Whether the broker counts no messages in the stream.
    init(now: MonotonicTime, isCountedEmpty: Bool = false) {
        beganAt = now
        firstPatience = isCountedEmpty ? Self.emptyPatience : Self.firstPatience
    }

    /// A message arrived.
    ///
    /// - Parameters:
    ///   - command: The command; nil where the message is not a command.
    ///   - now: The time.
    ///   - wall: The time in milliseconds since 1970.
    mutating func heard(_ command: ControlCommand?, now: MonotonicTime, wall: Int64) {
        heardAt = now
        guard let command else {
            ignored += 1
            return
        }
        state.apply(command, at: wall)
        if isComplete { fresh.append(command) }
    }

    /// Time passed.
    mutating func tick(now: MonotonicTime) {
        guard !isComplete else { return }
        let quietAt = heardAt.map { $0 + Self.quietTime } ?? beganAt + firstPatience
        isComplete = now >= min(quietAt, beganAt + Self.longestReplay)
    }

    /// Takes out the commands that came since the stream was read.
    mutating func takeFresh() -> [ControlCommand] {
        defer { fresh = [] }
        return fresh
    }
}
