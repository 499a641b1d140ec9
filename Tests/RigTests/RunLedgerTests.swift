import Testing

@testable import Rig

@Suite("The ledger of a run", .timeLimit(.minutes(1)))
struct RunLedgerTests {
    private typealias Key = RunLedger.Key

    /// Records a result, and the dead letter of one that is not accepted.
    private func report(
        _ ledger: inout RunLedger, _ job: String = "j", _ index: Int = 0, attempt: Int = 1, messageID: String? = nil,
        accepted: Bool = true, redelivered: Bool = false, apnsID: String? = "A"
    ) {
        ledger.reported(
            Key(job: job, index: index), attempt: attempt, messageID: messageID ?? "\(job)/\(attempt)/\(index)",
            ending: accepted ? .accepted : .failed, isRedelivered: redelivered, apnsID: apnsID)
        if !accepted { ledger.deadLettered(job: job, indexes: [index], isBrokers: false) }
    }

    @Test("A promised, accepted and reported notification is clean, in whichever order that was learnt")
    func clean() {
        var one = RunLedger()
        one.promised(job: "j")
        report(&one)
        one.accepted(apnsID: "a")
        #expect(one.balance().isClean)
        #expect((one.promises, one.open, one.finals) == (1, 0, 1))
        var other = RunLedger()
        other.accepted(apnsID: "a")
        report(&other)
        #expect(other.open == 0)
        other.promised(job: "j")
        #expect(other.balance().isClean)
        #expect((other.promises, other.open, other.finals) == (1, 0, 1))
    }

    @Test("A promise without a final outcome is lost, index by index")
    func lost() {
        var ledger = RunLedger()
        ledger.promised(job: "j", notifications: 2)
        report(&ledger, "j", 1, accepted: false)
        #expect(ledger.open == 1)
        #expect(ledger.balance().lost == [Key(job: "j", index: 0)])
        #expect(!ledger.balance().isClean)
    }

    @Test("A dead letter of the broker ends nothing: its job is lost without results, whichever is read first")
    func brokersDeadLetter() {
        for isEarly in [true, false] {
            var ledger = RunLedger()
            if isEarly { ledger.deadLettered(job: "j", isBrokers: true) }
            ledger.promised(job: "j", notifications: 2)
            if !isEarly { ledger.deadLettered(job: "j", isBrokers: true) }
            report(&ledger, "j", 1, accepted: false)
            #expect(ledger.balance().lost == [Key(job: "j", index: 0)])
            #expect(ledger.balance().brokerDeadLetters == 1)
            #expect((ledger.open, ledger.finals) == (1, 1))
        }
    }

    @Test("Whatever did not end well has a dead letter, by its indexes or of the whole job; nothing else has one")
    func deadLetters() {
        var ledger = RunLedger()
        ledger.promised(job: "j", notifications: 3)
        func result(_ index: Int, _ ending: RunLedger.Ending) {
            ledger.reported(
                Key(job: "j", index: index), attempt: 1, messageID: "\(index)", ending: ending, isRedelivered: false,
                apnsID: nil)
        }
        result(0, .failed)
        result(1, .unknown)
        ledger.deadLettered(job: "j", indexes: [1, 2], isBrokers: false)
        #expect(ledger.balance().withoutDeadLetter == [Key(job: "j", index: 0)])
        result(2, .accepted)
        #expect(ledger.balance().strayDeadLetters == [Key(job: "j", index: 2)])
        var whole = RunLedger()
        whole.deadLettered(job: "k", isBrokers: false)
        #expect(whole.balance().unexpected == [Key(job: "k", index: 0)])
        whole.promised(job: "k")
        report(&whole, "k", accepted: false)
        #expect(whole.balance().isClean)
        #expect(whole.balance().repeatedReports == 1)
    }

    @Test("What an operator cancelled is final, was not pushed, and may have a dead letter", arguments: [false, true])
    func cancelled(hasLetter: Bool) {
        var ledger = RunLedger()
        let key = Key(job: "j", index: 0)
        func report(_ ending: RunLedger.Ending) {
            ledger.reported(
                key, attempt: 1, messageID: "\(ending)", ending: ending, isRedelivered: false, apnsID: "a")
        }
        ledger.promised(job: "j")
        if hasLetter { ledger.deadLettered(job: "j", isBrokers: false) }
        report(.cancelled)
        #expect(ledger.balance().isClean && ledger.open == 0)
        ledger.accepted(apnsID: "a")
        #expect(ledger.balance().misreported == [key])
        report(.accepted)
        #expect(ledger.balance().contradicted == [key])
    }

    @Test("A second result of the same attempt counts as repeated unless the job was delivered again")
    func repeatedReports() {
        var ledger = RunLedger()
        for job in ["j", "k"] {
            ledger.promised(job: job)
            report(&ledger, job, apnsID: job)
            report(&ledger, job, redelivered: job == "k", apnsID: job)
            ledger.accepted(apnsID: job)
        }
        #expect(ledger.balance().isClean)
        #expect(ledger.balance().repeatedReports == 1)
    }

    @Test("What APNs accepted is not reported as failed, unless it was tried or delivered again, or nobody answered")
    func misreported() {
        for (attempt, ending, redelivered) in [
            (1, RunLedger.Ending.failed, false), (2, .failed, false), (1, .failed, true), (1, .unknown, false),
        ] {
            var ledger = RunLedger()
            ledger.promised(job: "j")
            ledger.deadLettered(job: "j", isBrokers: false)
            ledger.accepted(apnsID: "a")
            ledger.reported(
                Key(job: "j", index: 0), attempt: attempt, messageID: "m", ending: ending, isRedelivered: redelivered,
                apnsID: "a")
            let isWrong = attempt == 1 && ending == .failed && !redelivered
            #expect(ledger.balance().misreported == (isWrong ? [Key(job: "j", index: 0)] : []))
            #expect(ledger.balance().isClean == !isWrong)
        }
    }

    @Test("What APNs received is what was promised: the payload, for the device, each time")
    func contents() {
        let right = RunLedger.Content(token: "a1", payloadHash: 7)
        for other in [RunLedger.Content(token: "b2", payloadHash: 7), RunLedger.Content(token: "a1", payloadHash: 8)] {
            for received in [[right], [other], [right, other], [other, right]] {
                var ledger = RunLedger()
                ledger.promised(job: "j", contents: [right])
                report(&ledger, redelivered: true)
                for content in received { ledger.accepted(apnsID: "a", content: content) }
                #expect(ledger.balance().mixedUp == (received == [right] ? [] : [Key(job: "j", index: 0)]))
            }
        }
    }

    @Test("A job that was published and never confirmed may be done or not; it is neither lost nor unexpected")
    func offered() {
        var ledger = RunLedger()
        ledger.offered(job: "j")
        #expect((ledger.promises, ledger.open) == (0, 0))
        #expect(ledger.balance().isClean)
        report(&ledger)
        ledger.accepted(apnsID: "a")
        #expect(ledger.balance().isClean)
    }

    @Test("A second acceptance is explained by a later attempt: the first had no answer")
    func repeated() {
        var ledger = RunLedger()
        ledger.promised(job: "j")
        report(&ledger, attempt: 2)
        ledger.accepted(apnsID: "a")
        ledger.accepted(apnsID: "a")
        let balance = ledger.balance()
        #expect((balance.explainedDuplicates, balance.repeatedUnanswered) == (1, 1))
        #expect(balance.isClean)
    }

    @Test(
        "Two final outcomes contradict each other unless the job was delivered again",
        arguments: [(1, false), (2, true)], [true, false])
    func contradicted(second: (attempt: Int, accepted: Bool), redelivered: Bool) {
        var ledger = RunLedger()
        ledger.promised(job: "j")
        ledger.accepted(apnsID: "a")
        report(&ledger)
        report(&ledger, attempt: second.attempt, accepted: second.accepted, redelivered: redelivered)
        #expect(ledger.balance().contradicted == (redelivered ? [] : [Key(job: "j", index: 0)]))
        #expect(ledger.balance().isClean == redelivered)
    }

    @Test(
        "A second acceptance in one attempt is explained by a result that says redelivered, and by nothing else",
        arguments: [true, false])
    func duplicates(redelivered: Bool) {
        var ledger = RunLedger()
        ledger.promised(job: "j")
        report(&ledger)
        report(&ledger, redelivered: redelivered)
        ledger.accepted(apnsID: "a")
        ledger.accepted(apnsID: "A")
        let balance = ledger.balance()
        #expect(balance.explainedDuplicates == (redelivered ? 1 : 0))
        #expect(balance.unexplainedDuplicates == (redelivered ? [] : [Key(job: "j", index: 0)]))
        #expect(balance.isClean == redelivered)
        #expect(ledger.finals == 1)
    }

    @Test("Only the first report of a notification is its first")
    func first() {
        var ledger = RunLedger()
        let key = Key(job: "j", index: 0)
        func report(_ attempt: Int) -> Bool {
            ledger.reported(
                key, attempt: attempt, messageID: "m", ending: .failed, isRedelivered: false, apnsID: nil)
        }
        #expect(report(1))
        #expect(!report(1))
    }

    @Test("Results of one attempt under two message ids are ambiguous; of two attempts they are not")
    func ambiguous() {
        var ledger = RunLedger()
        ledger.promised(job: "j")
        report(&ledger, attempt: 1, accepted: false)
        report(&ledger, attempt: 2, accepted: false, redelivered: true)
        #expect(ledger.balance().isClean)
        report(&ledger, attempt: 2, messageID: "other", accepted: false)
        #expect(ledger.balance().ambiguous == [Key(job: "j", index: 0)])
    }

    @Test("Results of unknown jobs, and acceptances that APNs knows nothing of, are found")
    func strangers() {
        var ledger = RunLedger()
        report(&ledger, "stranger", accepted: false)
        #expect(ledger.balance().unexpected == [Key(job: "stranger", index: 0)])
        ledger.promised(job: "j")
        report(&ledger, apnsID: "b")
        #expect(ledger.balance().unreceived == [Key(job: "j", index: 0)])
    }

    @Test("A push that APNs accepted and no result speaks of is found")
    func unreported() {
        var ledger = RunLedger()
        ledger.promised(job: "j")
        report(&ledger)
        ledger.accepted(apnsID: "A")
        ledger.accepted(apnsID: "B")
        #expect(ledger.balance().unreported == ["b"])
        #expect(!ledger.balance().isClean)
    }

    @Test(
        "A message id is one attempt's alone: that of another notification or attempt, or none, is ambiguous",
        arguments: [("j/1/0", "k", 1, 0), ("j/1/0", "j", 1, 1), ("j/1/0", "j", 2, 0), ("", "k", 1, 0)])
    func shared(messageID: String, job: String, attempt: Int, index: Int) {
        var ledger = RunLedger()
        for job in ["j", "k"] { ledger.promised(job: job, notifications: 2) }
        for index in 0..<2 { report(&ledger, "j", index, accepted: false) }
        report(&ledger, job, index, attempt: attempt, messageID: messageID, accepted: false)
        #expect(ledger.balance().ambiguous == [Key(job: job, index: index)])
    }
}
