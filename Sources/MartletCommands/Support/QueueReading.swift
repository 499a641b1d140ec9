import EventLoop
import Rig
import Text

/// How far the reading of a queue came. Its caller passes in the messages and the time.
///
/// Messages that are not read are the newest of the queue. So a command that needs all of them must ask whether all
/// came.
struct QueueReading: Equatable {
    /// Why a reading ended.
    enum End: Equatable {
        /// All messages that the queue held at the beginning were read.
        case complete
        /// The command has as many as were asked for.
        case enough
        /// Ctrl-C came first.
        case interrupted
        /// No further message came.
        case silent
        /// The messages were held for ``QueueReading/longest``, or the command's own time was up.
        case outOfTime
    }

    /// How long the next message may take.
    static let patience = Duration.seconds(10)
    /// How long messages may be held without an acknowledgement: 25 minutes. RabbitMQ closes a channel that holds a
    /// message for longer than `consumer_timeout`, 30 minutes by default. The other 5 minutes are for the last message:
    /// its wait for the rate, and its confirm.
    static let longest = Duration.seconds(25 * 60)

    /// The queue.
    let queue: String
    /// How many messages it held when the reading began.
    let waiting: Int
    /// What its messages are called.
    let noun: String
    /// The time that the person gave the command; nil for ``longest``.
    let time: Duration?
    /// How many messages were read.
    private(set) var seen = 0
    /// Why the reading ended.
    private(set) var end = End.complete

    /// Begins a reading.
    init(queue: String, waiting: Int, noun: String = "letters", time: Duration? = nil) {
        self.queue = queue
        self.waiting = waiting
        self.noun = noun
        self.time = time
    }

    /// Reads the messages that the queue held at the beginning.
    ///
    /// - Parameters:
    ///   - deadline: When to end in any case.
    ///   - now: The present.
    ///   - isInterrupted: Whether Ctrl-C was pressed.
    ///   - isEnough: Whether the command wants no more.
    ///   - next: The next message; nil where no further message comes.
    ///   - take: What to do with each message.
    /// - Throws: What `next` and `take` throw.
    mutating func run<Message>(
        until deadline: MonotonicTime, now: () -> MonotonicTime, isInterrupted: () -> Bool,
        isEnough: () -> Bool = { false }, next: () throws(CommandFailure) -> Message?,
        take: (Message) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        end = .complete
        while end == .complete, seen < waiting {
            if isEnough() {
                end = .enough
            } else if isInterrupted() {
                end = .interrupted
            } else if now() >= deadline {
                end = .outOfTime
            } else if let message = try next() {
                seen += 1
                try take(message)
            } else {
                end = isInterrupted() ? .interrupted : now() >= deadline ? .outOfTime : .silent
            }
        }
    }

    /// Reads the messages over a connection that consumes nothing else, and leaves them unsettled. When the connection
    /// is closed, those that are not acknowledged go back. It ends early after Ctrl-C, where no further message comes,
    /// and before the broker would take the messages back.
    mutating func run(
        over link: CommandConnection, isEnough: () -> Bool = { false },
        take: (BrokerMessage) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        if waiting > 0 { try link.consumeHolding(queue, waiting: waiting) }
        let deadline = MonotonicTime.now().adding(min(time ?? Self.longest, Self.longest))
        try run(
            until: deadline, now: { .now() }, isInterrupted: { Interrupt.isRequested }, isEnough: isEnough,
            next: { () throws(CommandFailure) in
                try link.next(before: min(deadline, .now().adding(Self.patience)))
            },
            take: { message throws(CommandFailure) in
                try take(message)
                if let failure = Console.failure { throw failure }
            })
    }

    /// Why messages of the queue were not read, in words; nil where all were, or as many as were asked for.
    var gap: String? {
        let part = "\(TimeText.count(seen)) of \(TimeText.count(waiting)) \(noun) in \(queue) were read"
        switch end {
        case .complete, .enough: return nil
        case .interrupted: return "ended half way: \(part)"
        case .silent:
            return "\(part), and no more came for \(Self.patience.components.seconds) s"
        case .outOfTime:
            guard let time, time < Self.longest else {
                let minutes = Self.longest.components.seconds / 60
                return "\(part) in \(minutes) minutes, and a reader may hold them no longer"
            }
            return "\(part) within \(DurationText.write(time))"
        }
    }

    /// The failure of a command that needs all messages; nil where it has them.
    ///
    /// - Parameter consequence: What it did not do, or what it did.
    func failure(_ consequence: String) -> CommandFailure? {
        gap.map { CommandFailure(.gaveUp, "\($0): \(consequence)", remedy: remedy) }
    }

    /// Ends a command that has done its work with the messages that were read.
    ///
    /// - Parameter consequence: What that means.
    /// - Throws: `gaveUp` where messages are missing, also after Ctrl-C.
    func finish(_ consequence: String) throws(CommandFailure) {
        if let failure = failure(consequence) { throw failure }
    }

    private var remedy: String? {
        switch end {
        case .complete, .enough, .interrupted: nil
        case .silent:
            "Another reader may hold the rest, such as a second martlet command, or the broker is slow. "
                + "Run it again later."
        case .outOfTime where time ?? Self.longest < Self.longest: "Run it again for the rest, or give it more time."
        case .outOfTime:
            "RabbitMQ takes back what a reader holds for 30 minutes (consumer_timeout). Run it again for the rest."
        }
    }
}
