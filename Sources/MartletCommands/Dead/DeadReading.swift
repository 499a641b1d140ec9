import EventLoop
import Text

/// How far the reading of a queue of dead letters came. Its caller passes in the letters and the time.
///
/// Letters that are not read are the newest of the queue. So a command that needs all letters must ask whether all
/// came.
struct DeadReading: Equatable {
    /// Why a reading ended.
    enum End: Equatable {
        /// All letters that the queue held at the beginning were read.
        case complete
        /// Ctrl-C came first.
        case interrupted
        /// No further letter came.
        case silent
        /// The letters were held for ``DeadReading/longest``.
        case outOfTime
    }

    /// How long the next letter may take.
    static let patience = Duration.seconds(10)
    /// How long letters may be held without an acknowledgement: 25 minutes. RabbitMQ closes a channel that holds a
    /// message for longer than `consumer_timeout`, 30 minutes by default. The other 5 minutes are for the last letter:
    /// its wait for the rate, and its confirm.
    static let longest = Duration.seconds(25 * 60)

    /// The queue.
    let queue: String
    /// How many letters it held when the reading began.
    let waiting: Int
    /// How many letters were read.
    private(set) var seen = 0
    /// Why the reading ended.
    private(set) var end = End.complete

    /// Begins a reading.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - waiting: How many letters it holds.
    init(queue: String, waiting: Int) {
        self.queue = queue
        self.waiting = waiting
    }

    /// Reads the letters that the queue held at the beginning.
    ///
    /// - Parameters:
    ///   - deadline: When to end in any case.
    ///   - now: The present.
    ///   - isInterrupted: Whether Ctrl-C was pressed.
    ///   - next: The next letter; nil where no further letter comes.
    ///   - take: What to do with each letter.
    /// - Throws: What `next` and `take` throw.
    mutating func run<Letter>(
        until deadline: MonotonicTime, now: () -> MonotonicTime, isInterrupted: () -> Bool,
        next: () throws(CommandFailure) -> Letter?, take: (Letter) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        end = .complete
        while end == .complete, seen < waiting {
            if isInterrupted() {
                end = .interrupted
            } else if now() >= deadline {
                end = .outOfTime
            } else if let letter = try next() {
                seen += 1
                try take(letter)
            } else {
                end = isInterrupted() ? .interrupted : .silent
            }
        }
    }

    /// Why letters of the queue were not read, in words; nil where all were.
    var gap: String? {
        let part = "\(TimeText.count(seen)) of \(TimeText.count(waiting)) letters in \(queue) were read"
        switch end {
        case .complete: return nil
        case .interrupted: return "ended half way: \(part)"
        case .silent:
            return "\(part), and no more came for \(Self.patience.components.seconds) s"
        case .outOfTime:
            return "\(part) in \(Self.longest.components.seconds / 60) minutes, and a reader may hold them no longer"
        }
    }

    /// The failure of a command that needs all letters; nil where all were read.
    ///
    /// - Parameter consequence: What it did not do, or what it did.
    func failure(_ consequence: String) -> CommandFailure? {
        gap.map { CommandFailure(.gaveUp, "\($0): \(consequence)", remedy: remedy) }
    }

    /// Ends a command that has done its work with the letters that were read.
    ///
    /// - Parameter consequence: What that means.
    /// - Throws: `gaveUp` where letters are missing. After Ctrl-C a message on standard error says so instead.
    func finish(_ consequence: String) throws(CommandFailure) {
        guard let failure = failure(consequence) else { return }
        guard end == .interrupted else { throw failure }
        Console.talk(failure.description)
    }

    private var remedy: String? {
        switch end {
        case .complete, .interrupted: nil
        case .silent:
            "Another reader may hold the rest, such as a second martlet dead, or the broker is slow. Run it again later."
        case .outOfTime:
            "RabbitMQ takes back what a reader holds for 30 minutes (consumer_timeout). Run it again for the rest."
        }
    }
}
