import EventLoop
import PushModel
import Testing

@testable import PushWorker

@Suite("What a route owes for its deliveries", .timeLimit(.minutes(1)))
struct DeliveryLedgerTests {
    private static func moment(_ milliseconds: UInt64) -> Moment {
        Moment(monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000), wall: 0)
    }

    private static func acknowledgement(_ tag: UInt64, multiple: Bool) -> DeliveryLedger.Debt {
        .acknowledge(AcknowledgementTracker.Acknowledgement(deliveryTag: tag, multiple: multiple))
    }

    /// A ledger with an open channel.
    private func ledger() -> DeliveryLedger {
        var ledger = DeliveryLedger()
        ledger.begin()
        return ledger
    }

    /// Delivers so many messages, and makes jobs of them.
    private func jobs(_ count: UInt64, _ ledger: inout DeliveryLedger) throws -> [JobInFlight] {
        var jobs: [JobInFlight] = []
        for tag in 1...count { jobs.append(try job(ledger.delivered(tag))) }
        for job in jobs { ledger.took(job) }
        return jobs
    }

    private func job(_ receipt: consuming Receipt?) throws -> JobInFlight {
        let text = Array(#"{"device_token":"aa11","payload":{"aps":{}}}"#.utf8)
        let key = Array("development.normal.com.example.app".utf8)
        let type = Array("application/json".utf8)
        let body = key.count + type.count
        let message = JobMessage(
            bytes: key + type + text, routingKey: 0..<key.count, contentType: key.count..<body,
            body: body..<(body + text.count))
        let decoded = JobDecoder().decode(message, now: 1_800_000_000_000, random: { 1 })
        return JobInFlight(
            job: try decoded.get(), refusal: nil, receipt: receipt, properties: 0..<0, receivedAt: 0)
    }

    /// Everything that is to be sent.
    private func debts(_ ledger: inout DeliveryLedger) -> [DeliveryLedger.Debt] {
        var debts: [DeliveryLedger.Debt] = []
        while let debt = ledger.nextDebt {
            debts.append(debt)
            ledger.paid()
        }
        return debts
    }

    @Test("what goes back is owed at once, acknowledgements once they are decided, all in one order")
    func order() throws {
        var ledger = ledger()
        let jobs = try jobs(4, &ledger)
        let bytes = jobs[0].job.bytes.count
        #expect(ledger.bytes == 4 * bytes)
        ledger.requeue(jobs[1], at: Self.moment(0))
        ledger.finish(jobs[0], at: Self.moment(0))
        ledger.reject(jobs[2], at: Self.moment(0))
        #expect(ledger.bytes == bytes)
        #expect(ledger.unacknowledged == 2 && !ledger.isSettled)
        #expect(ledger.decide(at: Self.moment(1), flush: false) == 0, "it waits for company")
        #expect(ledger.decide(at: Self.moment(5), flush: false) == 1)
        #expect(debts(&ledger) == [.requeue(2), .reject(3), Self.acknowledgement(1, multiple: true)])
        #expect(!ledger.isSettled && ledger.unacknowledged == 1)
        ledger.finish(jobs[3], at: Self.moment(5))
        #expect(ledger.decide(at: Self.moment(5), flush: true) == 1)
        #expect(ledger.hasDebts && !ledger.isSettled)
        #expect(debts(&ledger) == [Self.acknowledgement(4, multiple: true)])
        #expect(ledger.isSettled)
    }

    @Test("a method that found no room is owed until it was sent")
    func room() throws {
        var ledger = ledger()
        let (first, second) = (try job(ledger.delivered(1)), try job(ledger.delivered(2)))
        ledger.requeue(first.takeReceipt(), at: Self.moment(0))
        ledger.requeue(first.takeReceipt(), at: Self.moment(0))
        #expect(ledger.holds(second) && !ledger.holds(first), "it is used up")
        #expect(ledger.nextDebt == .requeue(1) && ledger.nextDebt == .requeue(1))
        ledger.paid()
        #expect(ledger.nextDebt == nil && ledger.unacknowledged == 1)
    }

    @Test("the end of a channel voids what is owed, and gives back the jobs that were not settled")
    func end() throws {
        var ledger = ledger()
        let jobs = try jobs(3, &ledger)
        ledger.finish(jobs[0], at: Self.moment(0))
        ledger.requeue(jobs[1], at: Self.moment(0))
        #expect(ledger.holds(jobs[2]))
        #expect(ledger.end() == [jobs[2]])
        #expect(!ledger.hasDebts && ledger.unacknowledged == 0 && ledger.isSettled && ledger.nextDue == nil)
        #expect(!ledger.holds(jobs[2]), "its tag means nothing any more")
        ledger.begin()
        let next = try job(ledger.delivered(1))
        #expect(!ledger.holds(jobs[2]) && ledger.holds(next), "tags begin again")
        ledger.finish(jobs[2], at: Self.moment(0))
        #expect(ledger.decide(at: Self.moment(0), flush: true) == 0, "an old receipt settles nothing")
        ledger.finish(next, at: Self.moment(0))
        #expect(ledger.decide(at: Self.moment(0), flush: true) == 1)
    }

    /// What the route asked for, one consumer after the other, and how many deliveries that allows in the end.
    struct Grants: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Prefetch, other consumers at that time, and what was unacknowledged.
        var steps: [(prefetch: Int, beside: Int, unacknowledged: UInt64)]
        var allowed: Int
    }

    static let grants = [
        Grants(testDescription: "no consumer", steps: [], allowed: 0),
        Grants(testDescription: "one queue", steps: [(32, 0, 0)], allowed: 32),
        Grants(testDescription: "two queues", steps: [(32, 0, 0), (32, 1, 5)], allowed: 5 + 64),
        Grants(
            testDescription: "less than before: what was allowed may be under way", steps: [(32, 0, 0), (8, 0, 20)],
            allowed: 20 + 32 + 8),
        Grants(
            testDescription: "more than before", steps: [(32, 0, 0), (64, 0, 32)], allowed: 32 + 32 + 64),
        Grants(
            testDescription: "what was allowed two changes ago is here or never comes",
            steps: [(2_000, 0, 0), (8, 0, 20), (8, 0, 20)], allowed: 20 + 8 + 8),
        Grants(
            testDescription: "the second queue's consumer again, which the broker had cancelled",
            steps: [(32, 0, 0), (32, 1, 0), (32, 1, 10)], allowed: 10 + 32 + 64),
        Grants(
            testDescription: "cancelled again and again: only what was acknowledged makes room",
            steps: Array(repeating: (32, 0, 32), count: 50), allowed: 32 + 32 + 32),
    ]

    @Test("what a correct broker may have delivered: what is here, the prefetch, and that of the consumers before")
    func overrun() throws {
        for grants in Self.grants {
            var ledger = ledger()
            var last: UInt64 = 0
            var first: JobInFlight?
            func deliver() throws {
                last += 1
                let job = try job(ledger.delivered(last))
                first = first ?? job
            }
            for step in grants.steps {
                while last < step.unacknowledged { try deliver() }
                ledger.granted(step.prefetch, beside: step.beside)
            }
            #expect(ledger.mostUnacknowledged == grants.allowed, "\(grants)")
            while ledger.unacknowledged < grants.allowed { try deliver() }
            #expect(!ledger.isOverrun, "\(grants)")
            try deliver()
            #expect(ledger.isOverrun, "\(grants)")
            // What is acknowledged makes room, and the next channel allows nothing yet.
            ledger.finish(first?.takeReceipt(), at: Self.moment(0))
            _ = ledger.decide(at: Self.moment(0), flush: true)
            #expect(!ledger.isOverrun, "\(grants)")
            _ = ledger.end()
            #expect(ledger.mostUnacknowledged == 0)
        }
    }

    @Test("a tag out of sequence is not taken")
    func sequence() {
        var ledger = ledger()
        let taken = [4, 1, 1, 3, 2].map { (tag: UInt64) in
            if let receipt = ledger.delivered(tag) {
                _ = consume receipt
                return true
            }
            return false
        }
        #expect(taken == [false, true, false, false, true])
    }
}
