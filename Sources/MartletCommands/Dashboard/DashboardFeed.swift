import EventLoop

/// The newest status as JSON. It is made when somebody asks, and no more often than every two seconds, however many ask.
actor DashboardFeed {
    /// An answer to the page: a status, or the reason why it cannot be made.
    struct Answer: Equatable, Sendable {
        /// A JSON object: the status, or `error` and `remedy`.
        var body: [UInt8]
        /// Whether it is a status.
        var isStatus: Bool
    }

    /// For how long an answer is given again.
    static let interval = Duration.seconds(2)

    private let make: @Sendable () async -> Answer
    private var latest: (answer: Answer, at: MonotonicTime)?
    private var making: Task<Answer, Never>?

    /// A feed of a fleet's status.
    ///
    /// - Parameter source: Where the facts come from.
    init(_ source: StatusSource) {
        self.init {
            do throws(CommandFailure) {
                let facts = try await source.facts()
                return Answer(body: facts.json(StatusDiagnosis(facts: facts).findings).bytes, isStatus: true)
            } catch {
                let members: [(String, JSON)] = [("error", .text(error.message)), ("remedy", .optional(error.remedy))]
                return Answer(body: JSON.object(members).bytes, isStatus: false)
            }
        }
    }

    /// A feed of anything.
    ///
    /// - Parameter make: Makes one answer. It is not called again before it has ended.
    init(_ make: @escaping @Sendable () async -> Answer) { self.make = make }

    /// The newest answer, at most two seconds old.
    ///
    /// - Parameter now: The time.
    func answer(now: MonotonicTime = .now()) async -> Answer {
        if let latest, now - latest.at < Self.interval { return latest.answer }
        if let making { return await making.value }
        let task = Task { await make() }
        making = task
        let answer = await task.value
        making = nil
        latest = (answer, now)
        return answer
    }
}
