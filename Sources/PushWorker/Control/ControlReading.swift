import EventLoop

/// The commands read of the stream `apns.q.control` on one connection, and whether these are all. Pure: time comes in.
struct ControlReading {
    /// How long a worker that knows no commands waits for messages. A broker with much to do begins late. Its count of
    /// messages is some seconds old, so a command may come although it counts no messages.
    static let patience = StreamReplay.Patience(
        first: .seconds(2), ifEmpty: .milliseconds(200), quiet: .seconds(1), longest: .seconds(5))
    /// The same for a worker that knows commands already: those that it reads will replace them. A broker that has just
    /// started delivers late, and counts no messages for some seconds. A pause must not end because of that.
    static let laterPatience = StreamReplay.Patience(
        first: .seconds(10), ifEmpty: .seconds(10), quiet: .seconds(3), longest: .seconds(60))

    /// The state to which the commands that were read add up.
    private(set) var state = ControlState()
    /// Whether everything has been read that stood in the stream.
    var isComplete: Bool { replay.isComplete }
    /// How many messages were not commands.
    private(set) var ignored = 0
    /// Commands that came after the stream was read, and that were not taken out yet.
    private var fresh: [ControlCommand] = []
    private var replay: StreamReplay

    /// Nothing has been read.
    ///
    /// - Parameters:
    ///   - now: The time at which the first message was asked for.
    ///   - isCountedEmpty: Whether the broker counts no messages in the stream.
    ///   - patience: How long to wait for messages.
    init(
        now: MonotonicTime, isCountedEmpty: Bool = false,
        patience: StreamReplay.Patience = ControlReading.patience
    ) {
        replay = StreamReplay(patience, now: now, isCountedEmpty: isCountedEmpty)
    }

    /// A message arrived.
    ///
    /// - Parameters:
    ///   - command: The command; nil where the message is not a command.
    ///   - now: The time.
    ///   - wall: The time in milliseconds since 1970.
    mutating func heard(_ command: ControlCommand?, now: MonotonicTime, wall: Int64) {
        replay.heard(now: now)
        guard let command else {
            ignored += 1
            return
        }
        state.apply(command, at: wall)
        if isComplete { fresh.append(command) }
    }

    /// Time passed.
    mutating func tick(now: MonotonicTime) { replay.tick(now: now) }

    /// Takes out the commands that came after the stream was read.
    mutating func takeFresh() -> [ControlCommand] {
        defer { fresh = [] }
        return fresh
    }
}
