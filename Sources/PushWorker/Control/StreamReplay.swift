import EventLoop

/// Whether everything has been read that stood in a stream when its reading began. Pure: time comes in.
///
/// A stream does not say where it ends. Its stored messages come without a pause, so a stream that is quiet has been
/// read. That is a guess, which a slow broker may prove wrong. So it serves only where a mistake costs little.
struct StreamReplay {
    /// The argument that says where a consumer of a stream begins. As a header, which the broker writes, it is a message's
    /// place in the stream, counted from 0. [Streams](https://www.rabbitmq.com/docs/streams#consuming)
    static let offset = "x-stream-offset"

    /// How long to wait, in several cases.
    struct Patience {
        /// How long the first message may take.
        var first: Duration
        /// How long the first message may take if the broker counts no messages.
        var ifEmpty: Duration
        /// For how long nothing may arrive before the stream counts as read.
        var quiet: Duration
        /// The time after which the stream counts as read although it is not quiet, because somebody floods it.
        var longest: Duration
    }

    /// Whether everything has been read.
    private(set) var isComplete = false
    private let patience: Patience
    private let end: MonotonicTime
    private var quietAt: MonotonicTime

    /// Nothing has been read.
    ///
    /// - Parameters:
    ///   - patience: How long to wait.
    ///   - now: The time at which the first message was asked for.
    ///   - isCountedEmpty: Whether the broker counts no messages in the stream.
    init(_ patience: Patience, now: MonotonicTime, isCountedEmpty: Bool) {
        self.patience = patience
        end = now + patience.longest
        quietAt = now + (isCountedEmpty ? patience.ifEmpty : patience.first)
    }

    /// When the stream counts as read if nothing more arrives.
    var dueAt: MonotonicTime { min(quietAt, end) }

    /// A message arrived.
    mutating func heard(now: MonotonicTime) { quietAt = now + patience.quiet }

    /// Time passed.
    mutating func tick(now: MonotonicTime) { isComplete = isComplete || now >= dueAt }
}
