import PushModel

/// Compares what producers were promised, what APNs received, and what was reported, after a run.
///
/// A notification is named by its job and index. The rules:
///
/// - Each promised notification gets a final outcome.
/// - A second acceptance at APNs is explained if a result of the notification says `redelivered`: the broker delivered
///   the job again after a crash. It is also explained if the notification took more than one attempt: a request whose
///   answer never came was made again.
/// - Results of one attempt come twice only as the same message, with an id that no other result has.
/// - Only a redelivery explains two final outcomes.
/// - APNs received the promised payload for the promised device token.
/// - A notification that is reported neither accepted nor cancelled has a dead letter. Accepted ones have none, and
///   cancelled ones may have one.
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

    /// How a result says that a notification ended.
    package enum Ending: Sendable {
        /// APNs accepted it.
        case accepted
        /// It was sent and never answered.
        case unknown
        /// An operator cancelled it.
        case cancelled
        /// Anything else.
        case failed
    }

    /// What a notification consists of.
    package struct Content: Equatable, Sendable {
        /// The device token's digits.
        package var token: String
        /// The hash of the payload.
        package var payloadHash: UInt64

        /// Makes a content from its parts.
        package init(token: String, payloadHash: UInt64) {
            self.token = token
            self.payloadHash = payloadHash
        }
    }

    /// Something that is wrong.
    package struct Finding: Sendable {
        /// Its name for programs, such as `lost`.
        package var name: String
        /// What is wrong with the notifications, in words that follow their number.
        package var title: String
        /// The notifications, as `job#index`, or their `apns-id`s.
        package var names: [String]
    }

    /// What the comparison found.
    package struct Balance: Sendable {
        /// Notifications that were promised and never got a final outcome.
        package var lost: [Key] = []
        /// Acceptances beyond the first that a redelivery or a repeated attempt explains.
        package var explainedDuplicates = 0
        /// Those of ``explainedDuplicates`` that only a repeated attempt explains.
        package var repeatedUnanswered = 0
        /// Notifications accepted more than once without an explanation.
        package var unexplainedDuplicates: [Key] = []
        /// Results or dead letters of jobs nobody published.
        package var unexpected: [Key] = []
        /// Notifications with results of one attempt that have different message ids, no message id, or another
        /// result's.
        package var ambiguous: [Key] = []
        /// Notifications with several final outcomes although their job was never delivered again.
        package var contradicted: [Key] = []
        /// Notifications reported accepted that APNs never accepted.
        package var unreceived: [Key] = []
        /// The `apns-id` of every push that APNs accepted and that no result names.
        package var unreported: [String] = []
        /// Notifications that APNs accepted, but that results call failed or cancelled and never accepted, without a
        /// second try or delivery.
        package var misreported: [Key] = []
        /// Notifications that APNs got for another device, or with another payload, than promised.
        package var mixedUp: [Key] = []
        /// Notifications reported failed or unknown that have no dead letter.
        package var withoutDeadLetter: [Key] = []
        /// Notifications with a worker's dead letter that are reported accepted, and neither failed nor unknown.
        /// Notifications that were delivered again do not count.
        package var strayDeadLetters: [Key] = []
        /// Results and dead letters beyond the first of their kind that no redelivery explains. A worker wrote them
        /// twice because a confirm was lost.
        package var repeatedReports = 0
        /// Dead letters that the broker wrote.
        package var brokerDeadLetters = 0

        /// Whether everything is accounted for.
        package var isClean: Bool { findings.allSatisfy(\.names.isEmpty) }

        /// Every kind of finding, with its notifications. A kind without notifications is fine.
        package var findings: [Finding] {
            func finding(_ name: String, _ title: String, _ keys: [Key]) -> Finding {
                Finding(name: name, title: title, names: keys.map { "\($0.job)#\($0.index)" })
            }
            return [
                finding("unexplained_duplicates", "pushed twice without a reason", unexplainedDuplicates),
                finding("ambiguous", "reported twice under different message ids", ambiguous),
                finding("unexpected", "reported, but never promised", unexpected),
                finding("contradicted", "reported with several final outcomes", contradicted),
                finding("unreceived", "reported accepted, but APNs never saw them", unreceived),
                Finding(
                    name: "unreported", title: "accepted by APNs (by \(HeaderName.apnsID)), but never reported",
                    names: unreported),
                finding("misreported", "accepted by APNs, but reported as something else", misreported),
                finding("mixed_up", "received by APNs for another device or with another payload", mixedUp),
                finding("without_dead_letter", "failed without a dead letter", withoutDeadLetter),
                finding("stray_dead_letters", "accepted, and in the dead letters, too", strayDeadLetters),
                finding("lost", "never became final", lost),
            ]
        }
    }

    private struct Account {
        var isOffered = false
        var isPromised = false
        var isFinal = false
        var isReportedAccepted = false
        var isReportedFailed = false
        var isReportedUnknown = false
        var isReportedCancelled = false
        var isRedelivered = false
        var messageIDs: [Int: String] = [:]
        var isAmbiguous = false
        var apnsID: String?
        var content: Content?
        var reports = 0
        var deadLetters = 0

        /// Whether a result says that it failed, or that its end is unknown.
        var hasFailed: Bool { isReportedFailed || isReportedUnknown }
        /// Whether a final outcome came after more than one attempt.
        var isRepeated: Bool { messageIDs.keys.contains { $0 > 1 } }
        /// Whether it has several final outcomes, but no second delivery that would explain them.
        var contradictsItself: Bool {
            !isRedelivered && (messageIDs.count > 1 || (isReportedAccepted && (hasFailed || isReportedCancelled)))
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
    private var receipts: [String: Content] = [:]
    /// The `apns-id`s that APNs accepted with different contents.
    private var mixedUp: Set<String> = []
    /// How many notifications each job asks for.
    private var sizes: [String: Int] = [:]
    /// Dead letters that are about all notifications of a job.
    private var letters: [String: (workers: Int, brokers: Int)] = [:]
    private var brokerDeadLetters = 0

    /// An empty ledger.
    package init() {}

    /// How many notifications have a final outcome.
    package private(set) var finals = 0
    /// How many notifications were promised.
    package private(set) var promises = 0
    /// How many notifications were promised and have no final outcome yet.
    package private(set) var open = 0

    /// The ids of all jobs that were published.
    package var jobs: some Sequence<String> { sizes.keys }

    /// A producer published a job and never heard of it again: nobody knows whether the broker has it.
    package mutating func offered(job: String, notifications: Int = 1) {
        sizes[job] = notifications
        for index in 0..<notifications { accounts[Key(job: job, index: index), default: Account()].isOffered = true }
    }

    /// The broker confirmed a job to its producer.
    ///
    /// - Parameters:
    ///   - job: Its id.
    ///   - notifications: How many it asks for.
    ///   - contents: What each notification consists of, by its index; empty if nobody compares.
    package mutating func promised(job: String, notifications: Int = 1, contents: [Content] = []) {
        sizes[job] = notifications
        for index in 0..<notifications {
            var account = accounts[Key(job: job, index: index)] ?? Account()
            guard !account.isPromised else { continue }
            account.isPromised = true
            if contents.indices.contains(index) { account.content = contents[index] }
            accounts[Key(job: job, index: index)] = account
            promises += 1
            if !account.isFinal { open += 1 }
        }
    }

    /// A result was read.
    ///
    /// - Returns: Whether it is the first final report of its notification.
    @discardableResult
    package mutating func reported(
        _ key: Key, attempt: Int, messageID: String, ending: Ending, isRedelivered: Bool, apnsID: String?
    ) -> Bool {
        let isFirst = finished(key)
        var account = accounts[key] ?? Account()
        switch ending {
        case .accepted: account.isReportedAccepted = true
        case .unknown: account.isReportedUnknown = true
        case .failed: account.isReportedFailed = true
        case .cancelled: account.isReportedCancelled = true
        }
        account.reports += 1
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

    /// A dead letter was read. It says nothing about the end of its notifications: their results do, also where the
    /// broker wrote the letter.
    ///
    /// - Parameters:
    ///   - job: The job's id.
    ///   - indexes: The notifications it is about; nil for all of the job's.
    ///   - isBrokers: Whether the broker wrote it, not a worker.
    package mutating func deadLettered(job: String, indexes: [Int]? = nil, isBrokers: Bool) {
        if isBrokers { brokerDeadLetters += 1 }
        guard let indexes = indexes ?? (isBrokers ? nil : sizes[job].map { Array(0..<$0) }) else {
            // The number of the job's notifications may become known only later.
            var count = letters[job] ?? (0, 0)
            if isBrokers { count.brokers += 1 } else { count.workers += 1 }
            letters[job] = count
            return
        }
        for index in indexes {
            accounts[Key(job: job, index: index), default: Account()].deadLetters += 1
        }
    }

    /// APNs accepted a push with this `apns-id`.
    ///
    /// - Parameters:
    ///   - apnsID: The identifier.
    ///   - content: What APNs received; nil if nobody compares.
    package mutating func accepted(apnsID: String, content: Content? = nil) {
        let id = apnsID.lowercased()
        acceptances[id, default: 0] += 1
        guard let content else { return }
        if let known = receipts[id], known != content { mixedUp.insert(id) }
        receipts[id] = content
    }

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
    package func balance() -> Balance {
        var balance = Balance()
        var unreported = Set(acceptances.keys)
        for (key, account) in accounts {
            if !account.isPromised, !account.isOffered { balance.unexpected.append(key) }
            if account.isPromised, !account.isFinal { balance.lost.append(key) }
            if account.isAmbiguous { balance.ambiguous.append(key) }
            if account.contradictsItself { balance.contradicted.append(key) }
            let count = account.apnsID.flatMap { acceptances[$0] } ?? 0
            if let id = account.apnsID {
                unreported.remove(id)
                let isAnother = account.content.flatMap { wanted in receipts[id].map { $0 != wanted } } ?? false
                if isAnother || mixedUp.contains(id) { balance.mixedUp.append(key) }
            }
            if account.isReportedAccepted, count == 0 { balance.unreceived.append(key) }
            let isExplained = account.isRedelivered || account.isRepeated
            let isDenied = account.isReportedFailed || account.isReportedCancelled
            if count > 0, isDenied, !account.isReportedAccepted, !isExplained {
                balance.misreported.append(key)
            }
            judgeDeadLetters(account, of: key, &balance)
            guard count > 1 else { continue }
            if isExplained {
                balance.explainedDuplicates += count - 1
                if !account.isRedelivered { balance.repeatedUnanswered += count - 1 }
            } else {
                balance.unexplainedDuplicates.append(key)
            }
        }
        balance.unexpected += letters.keys.filter { sizes[$0] == nil }.map { Key(job: $0, index: 0) }
        balance.brokerDeadLetters = brokerDeadLetters
        balance.unreported = unreported.sorted()
        return balance
    }
    private func judgeDeadLetters(_ account: Account, of key: Key, _ balance: inout Balance) {
        let whole = letters[key.job] ?? (0, 0)
        let count = account.deadLetters + whole.workers
        if account.hasFailed, count + whole.brokers == 0 { balance.withoutDeadLetter.append(key) }
        guard !account.isRedelivered else { return }
        if account.isReportedAccepted, !account.hasFailed, count > 0 { balance.strayDeadLetters.append(key) }
        balance.repeatedReports += max(0, account.reports - 1) + max(0, count - 1)
    }
}
