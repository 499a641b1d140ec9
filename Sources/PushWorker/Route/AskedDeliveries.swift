import EventLoop

/// The deliveries about which a lane has asked the others of its route, until all have answered. Pure: time comes in.
struct AskedDeliveries {
    /// How long a lane waits for answers: 30 s longer than a lane waits for its broker to prove that a channel is
    /// alive. So only a lane that has ended does not answer in time.
    static let patience = RouteConsumer.patience + .seconds(30)

    /// A delivery that waits for answers.
    struct Asked {
        /// The job that the delivery became.
        var job: JobInFlight
        /// Whether the job is a copy that the broker may have twice. Such a copy is not a redelivery.
        var isCopy: Bool
        /// Whether a lane has the first of the two copies.
        var isKnown = false
        /// How many lanes have not answered.
        fileprivate var missing: Int
        fileprivate var due: MonotonicTime
    }

    private var asked: [UInt64: Asked] = [:]
    /// When the oldest question falls due. This time is never too late. It is too early once the oldest question was
    /// answered.
    private var earliest = MonotonicTime.distantFuture

    /// Starts with nothing asked.
    init() {}

    /// When `overdue(now:)` may have something; nil while nothing is asked.
    var nextDue: MonotonicTime? { asked.isEmpty ? nil : earliest }

    /// Notes a question.
    ///
    /// - Parameters:
    ///   - job: The job in question.
    ///   - isCopy: Whether the job is a copy that the broker may have twice.
    ///   - lanes: How many lanes are asked.
    ///   - now: The time.
    mutating func ask(_ job: JobInFlight, isCopy: Bool, lanes: Int, now: MonotonicTime) {
        let due = now + Self.patience
        if asked.isEmpty || due < earliest { earliest = due }
        asked[job.deliveryTag] = Asked(job: job, isCopy: isCopy, missing: lanes, due: due)
    }

    /// Whether nothing is asked.
    var isEmpty: Bool { asked.isEmpty }

    /// Whether a job is a copy that was asked about.
    func isCopy(_ job: JobInFlight) -> Bool { asked[job.deliveryTag]?.isCopy == true }

    /// A lane has answered.
    ///
    /// - Parameters:
    ///   - tag: The delivery's tag.
    ///   - isKnown: Whether that lane has the first of two copies.
    /// - Returns: The delivery, once all lanes have answered, or one lane has the first copy.
    mutating func answered(_ tag: UInt64, isKnown: Bool) -> Asked? {
        guard var one = asked[tag] else { return nil }
        one.missing -= 1
        one.isKnown = one.isKnown || isKnown
        let isDone = one.missing <= 0 || one.isKnown
        asked[tag] = isDone ? nil : one
        return isDone ? one : nil
    }

    /// Takes out the deliveries for which an answer is overdue.
    mutating func overdue(now: MonotonicTime) -> [Asked] {
        guard let nextDue, now >= nextDue else { return [] }
        let late = asked.values.filter { now >= $0.due }.sorted { $0.job.deliveryTag < $1.job.deliveryTag }
        for one in late { asked[one.job.deliveryTag] = nil }
        earliest = asked.values.map(\.due).min() ?? .distantFuture
        return late
    }

    /// The channel is gone, and all deliveries with it.
    ///
    /// - Returns: The jobs that they became.
    mutating func removeAll() -> [JobInFlight] {
        defer { asked.removeAll() }
        return asked.sorted { $0.key < $1.key }.map(\.value.job)
    }
}
