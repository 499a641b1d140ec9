/// Compares what producers were promised, what APNs received, and what was reported, after a run.
///
/// A notification is named by its job and index. Nothing may be lost; a second acceptance at APNs is explained when a
/// result of that notification says `redelivered`, because the broker then delivered the job again after a crash, or
/// when it took more than one attempt, because a request whose answer never came was made again; results of one attempt
/// may come twice only as the same message, with an id that no other result has; and only a redelivery explains two
/// final outcomes.
package struct RunLedger: Sendable {
    /// One notification.
    package struct Key: Hashable, Sendable {
        /// The job's id.
        package var job: String
        /// Its position in `device_tokens`.
        package var index: Int

        /// A key from its parts.
        package init(job: String, index: Int) {
            self.job = job
            self.index = index
        }
    }

    /// What the comparison found.
    package struct Verdict: Sendable {
        /// Notifications that were promised and never got a final outcome.
        package var lost: [Key] = []
        /// Acceptances beyond the first that a redelivery or a repeated attempt explains.
        package var explainedDuplicates = 0
        /// Those of them that only a repeated attempt explains.
        package var repeatedUnanswered = 0
        /// Notifications accepted more than once without an explanation.
        package var unexplainedDuplicates: [Key] = []
        /// Results or dead letters of jobs nobody published.
        package var unexpected: [Key] = []
        /// Notifications whose results of one attempt have different message ids, none, or that of another result.
        package var ambiguous: [Key] = []
        /// Notifications with several final outcomes although their job was never delivered again.
        package var contradicted: [Key] = []
        /// Notifications reported accepted that APNs never received.
        package var unreceived: [Key] = []
        /// The `apns-id` of every push that APNs accepted and no result speaks of.
        package var unreported: [String] = []

        /// Whether everything is accounted for.
        package var isClean: Bool {
            lost.isEmpty && unexplainedDuplicates.isEmpty && unexpected.isEmpty && ambiguous.isEmpty
                && contradicted.isEmpty && unreceived.isEmpty && unreported.isEmpty
        }
    }

    private struct Account {
        var isOffered = false
        var isPromised = false
        var isFinal = false
        var isReportedAccepted = false
        var isReportedRefused = false
        var isRedelivered = false
        var messageIDs: [Int: String] = [:]
        var isAmbiguous = false
        var apnsID: String?

        /// Whether a final outcome came after more than one attempt.
        var isRepeated: Bool { messageIDs.keys.contains { $0 > 1 } }
        /// Whether it has several final outcomes, and no second delivery that would explain them.
        var contradictsItself: Bool {
            !isRedelivered && (messageIDs.count > 1 || (isReportedAccepted && isReportedRefused))
        }
    }

    /// What one message id stands for.
    private struct Report: Hashable {
        var key: Key
        var attempt: Int
    }

    private var accounts: [Key: Account] = [:]
    private var reports: [String: Report] = [:]
    private var acceptances: [String: Int] = [:]

    /// An empty ledger.
    package init() {}

    /// How many notifications have a final outcome.
    package private(set) var finals = 0
    /// How many notifications were promised.
    package private(set) var promises = 0
    /// How many notifications were promised and have no final outcome yet.
    package private(set) var open = 0

    /// A producer published a job and never heard of it again: it may be done, and need not.
    package mutating func offered(job: String, notifications: Int = 1) {
        for index in 0..<notifications { accounts[Key(job: job, index: index), default: Account()].isOffered = true }
    }

    /// The broker confirmed a job with this many notifications to its producer.
    package mutating func promised(job: String, notifications: Int = 1) {
        for index in 0..<notifications {
            var account = accounts[Key(job: job, index: index)] ?? Account()
            guard !account.isPromised else { continue }
            account.isPromised = true
            accounts[Key(job: job, index: index)] = account
            promises += 1
            if !account.isFinal { open += 1 }
        }
    }

    /// A result was read.
    /// - Returns: Whether it is the first final word about its notification.
    @discardableResult
    package mutating func reported(
        _ key: Key, attempt: Int, messageID: String, isAccepted: Bool, isRedelivered: Bool, apnsID: String?
    ) -> Bool {
        let isFirst = finished(key)
        var account = accounts[key] ?? Account()
        if isAccepted { account.isReportedAccepted = true } else { account.isReportedRefused = true }
        if isRedelivered { account.isRedelivered = true }
        if let known = account.messageIDs[attempt], known != messageID { account.isAmbiguous = true }
        account.messageIDs[attempt] = messageID
        let report = Report(key: key, attempt: attempt)
        if messageID.isEmpty || reports[messageID, default: report] != report { account.isAmbiguous = true }
        reports[messageID] = report
        account.apnsID = apnsID?.lowercased() ?? account.apnsID
        accounts[key] = account
        return isFirst
    }

    /// A dead letter that the broker wrote was read: it has no result.
    package mutating func deadLettered(_ key: Key) { _ = finished(key) }

    /// APNs accepted a push with this `apns-id`.
    package mutating func accepted(apnsID: String) { acceptances[apnsID.lowercased(), default: 0] += 1 }

    private mutating func finished(_ key: Key) -> Bool {
        var account = accounts[key] ?? Account()
        guard !account.isFinal else { return false }
        account.isFinal = true
        accounts[key] = account
        finals += 1
        if account.isPromised { open -= 1 }
        return true
    }

    /// Compares everything recorded so far.
    package func verdict() -> Verdict {
        var verdict = Verdict()
        var unreported = Set(acceptances.keys)
        for (key, account) in accounts {
            if !account.isPromised, !account.isOffered { verdict.unexpected.append(key) }
            if account.isPromised, !account.isFinal { verdict.lost.append(key) }
            if account.isAmbiguous { verdict.ambiguous.append(key) }
            if account.contradictsItself { verdict.contradicted.append(key) }
            let count = account.apnsID.flatMap { acceptances[$0] } ?? 0
            if let id = account.apnsID { unreported.remove(id) }
            if account.isReportedAccepted, count == 0 { verdict.unreceived.append(key) }
            guard count > 1 else { continue }
            if account.isRedelivered || account.isRepeated {
                verdict.explainedDuplicates += count - 1
                if !account.isRedelivered { verdict.repeatedUnanswered += count - 1 }
            } else {
                verdict.unexplainedDuplicates.append(key)
            }
        }
        verdict.unreported = unreported.sorted()
        return verdict
    }
}
