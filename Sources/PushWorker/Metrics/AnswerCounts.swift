/// Counts of what requests to APNs came to, by status.
package struct AnswerCounts: Sendable {
    /// The statuses that Apple names for pushes and for broadcast channels; any other counts as `other`.
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

    /// A request was sent, and no answer came: a deadline passed, or the connection was lost.
    package mutating func countUnanswered() { counts[counts.count - 1] += 1 }

    /// The label of an answer with a status.
    static func label(of status: Int) -> String { labels[index(of: status)] }

    private static func index(of status: Int) -> Int {
        // Nearly all are the first.
        statuses.firstIndex(of: status) ?? statuses.count
    }

    /// Adds counts made elsewhere.
    mutating func add(_ more: AnswerCounts) {
        for index in counts.indices { counts[index] += more.counts[index] }
    }
}
