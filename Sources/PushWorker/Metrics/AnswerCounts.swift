/// Counts of requests to APNs, by the status of their answer.
package struct AnswerCounts: Sendable, Equatable {
    /// The statuses that Apple names for pushes and for broadcast channels. Any other status counts as `other`.
    private static let statuses = [200, 201, 204, 400, 403, 404, 405, 410, 413, 429, 500, 503]
    /// The labels, in the order of the counts.
    static let labels = statuses.map(String.init) + ["other", "none"]

    /// One count for each label.
    private(set) var counts = [Int](repeating: 0, count: AnswerCounts.labels.count)

    /// Makes counts at zero.
    package init() {}

    /// APNs answered.
    ///
    /// - Parameter status: The HTTP status.
    package mutating func count(status: Int) {
        counts[Self.index(of: status)] += 1
    }

    /// Counts a request that APNs may have processed and did not answer: a deadline passed, the stream was reset, or
    /// the connection was lost.
    package mutating func countUnanswered() { counts[counts.count - 1] += 1 }

    /// The label of an answer with a status.
    static func label(of status: Int) -> String { labels[index(of: status)] }

    private static func index(of status: Int) -> Int {
        // Nearly all answers are 200, which is the first.
        statuses.firstIndex(of: status) ?? statuses.count
    }

    /// Adds counts made elsewhere.
    mutating func add(_ more: AnswerCounts) {
        for index in counts.indices { counts[index] += more.counts[index] }
    }
}
