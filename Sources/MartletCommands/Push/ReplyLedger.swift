import Rig

/// Which results of published jobs are still to come: a pure value.
struct ReplyLedger {

    /// How many results were received. A second copy of a result does not count.
    private(set) var received = 0
    private var missing: [String: Set<Int>] = [:]

    /// How many results are still to come.
    private(set) var outstanding = 0

    /// Notes a job that was published.
    ///
    /// - Parameters:
    ///   - job: Its id.
    ///   - notifications: How many results it will have.
    mutating func expect(job: String, notifications: Int) {
        outstanding += notifications - (missing[job]?.count ?? 0)
        missing[job] = Set(0..<notifications)
    }

    /// Notes a result.
    ///
    /// - Parameter record: The result.
    /// - Returns: Whether the result was expected. False for a second copy, and for a result of another job.
    mutating func receive(_ record: ResultRecord) -> Bool {
        guard let job = record.jobID, missing[job]?.remove(record.index) != nil else { return false }
        if missing[job]?.isEmpty == true { missing[job] = nil }
        outstanding -= 1
        received += 1
        return true
    }

    /// Expects no more results of a job that the broker did not take.
    ///
    /// - Parameter job: Its id.
    mutating func forget(job: String) {
        outstanding -= missing.removeValue(forKey: job)?.count ?? 0
    }

    /// The ids of jobs without all their results, sorted.
    var jobsWaitedFor: [String] { missing.keys.sorted() }
}
