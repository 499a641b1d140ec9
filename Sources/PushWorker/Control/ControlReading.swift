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

    /// The same once a consumer of the last message has waited in vain.
    static let patienceAfterNothing = StreamReplay.Patience(
        first: .milliseconds(250), ifEmpty: .milliseconds(250), quiet: .seconds(1), longest: .seconds(5))

    /// The state to which the commands that were read add up.
    private(set) var state = ControlState()
    /// Whether everything has been read that stood in the stream when the reading began.
    var isComplete: Bool { lastOffset == nil ? replay.isComplete : isAtEnd }
    /// Whether the state may be followed: it is complete, or it was read for so long that the lane should not wait. An
    /// incomplete state cancels nothing.
    var isUsable: Bool { isComplete || beginsEarly && replay.isComplete }
    /// Whether a message came although none was found at the end of the stream. The reading then cannot tell what stood in
    /// the stream when it began, so it has to be done again.
    private(set) var isInDoubt = false
    /// How many messages were not commands.
    private(set) var ignored = 0
    /// Commands that came after the stream was read, and that were not taken out yet.
    private var fresh: [ControlCommand] = []
    private var replay: StreamReplay
    /// The offset of the message that was the last one when the reading began; nil for an empty stream.
    private let lastOffset: Int64?
    private var isAtEnd = false
    private let beginsEarly: Bool

    /// Nothing has been read.
    ///
    /// - Parameters:
    ///   - now: The time at which the first message was asked for.
    ///   - isCountedEmpty: Whether the broker counts no messages in the stream.
    ///   - lastOffset: The offset of the message that is the last one now; nil where none was found.
    ///   - patience: How long to wait for messages.
    ///   - beginsEarly: Whether an incomplete state is of use, because the worker knows no other.
    init(
        now: MonotonicTime, isCountedEmpty: Bool = false, lastOffset: Int64? = nil,
        patience: StreamReplay.Patience = ControlReading.patience, beginsEarly: Bool = true
    ) {
        replay = StreamReplay(patience, now: now, isCountedEmpty: isCountedEmpty)
        self.lastOffset = lastOffset
        self.beginsEarly = beginsEarly
        state.isWhole = lastOffset == nil
    }

    /// A message arrived.
    ///
    /// - Parameters:
    ///   - command: The command; nil where the message is not a command.
    ///   - offset: The message's place in the stream; nil where it cannot be read.
    ///   - now: The time.
    ///   - wall: The time in milliseconds since 1970.
    mutating func heard(_ command: ControlCommand?, offset: Int64? = nil, now: MonotonicTime, wall: Int64) {
        replay.heard(now: now)
        defer { noteOffset(offset) }
        guard let command else {
            ignored += 1
            return
        }
        state.apply(command, at: wall)
        if isComplete { fresh.append(command) }
    }

    private mutating func noteOffset(_ offset: Int64?) {
        guard let lastOffset else {
            // A message of a queue that is not a stream has no offset, and a queue is read once it is quiet.
            isInDoubt = isInDoubt || offset != nil
            return
        }
        guard let offset, offset >= lastOffset else { return }
        isAtEnd = true
        state.isWhole = true
    }

    /// Time passed.
    mutating func tick(now: MonotonicTime) { replay.tick(now: now) }

    /// Takes out the commands that came after the stream was read.
    mutating func takeFresh() -> [ControlCommand] {
        defer { fresh = [] }
        return fresh
    }
}
