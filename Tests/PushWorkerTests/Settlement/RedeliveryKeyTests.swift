import PushModel
import Testing
import Text

@testable import PushWorker

@Suite("What a redelivery is recognised by", .timeLimit(.minutes(1)))
struct RedeliveryKeyTests {
    /// A job in flight, read from an envelope.
    private func job(
        id: String? = "job-1", token: String = "aa11", attempt: Int? = nil, indexes: String? = nil,
        replay: String? = nil, redelivered: Bool = false, body: String? = nil, enqueuedAt: Int? = nil
    ) throws -> JobInFlight {
        let key = Array("development.normal.com.example.app".utf8)
        let tokens = token.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ",")
        let text = body ?? #"{"device_tokens":[\#(tokens)],"payload":{"aps":{}}}"#
        var bytes = key
        func add(_ text: String) -> Range<Int> {
            let start = bytes.count
            bytes.append(contentsOf: text.utf8)
            return start..<bytes.count
        }
        let bodyRange = add(text)
        let idRange = id.map(add)
        let type = add("application/json")
        var texts = [("x-apns-indexes", indexes), ("x-apns-replay", replay)].compactMap { name, text in
            text.map { (add(name), HeaderValue.text(add($0))) }
        }
        let numbers = [
            ("x-apns-v", attempt.map { _ in 1 }), ("x-apns-attempt", attempt), ("x-apns-enqueued-at", enqueuedAt),
        ]
        for (name, number) in numbers {
            if let number { texts.append((add(name), .integer(Int64(number)))) }
        }
        var message = JobMessage(
            bytes: bytes, routingKey: 0..<key.count, contentType: type, messageID: idRange, body: bodyRange,
            redelivered: redelivered, way: attempt == nil ? .published : .returned)
        for (name, value) in texts { message.headers.take(name: name, value: value, in: bytes) }
        var random = SplitMix64(seed: UInt64(bytes.count))
        let decoded = JobDecoder().decode(message, now: 1_000, random: { random.next() })
        return JobInFlight(
            job: try decoded.get(), refusal: nil, receipt: nil, properties: 0..<0, receivedAt: 1_000)
    }

    @Test("Two deliveries of one message look alike")
    func alike() throws {
        let first = try #require(try job().redeliveryKey)
        #expect(try job(redelivered: true).redeliveryKey == first)
    }

    @Test("Another id, device, attempt, set of indexes, body or time of publishing is another job")
    func different() throws {
        let keys = try [
            job(), job(id: "job-2"), job(token: "aa12"), job(attempt: 2), job(token: "aa11,bb22"),
            job(token: "aa11,bb22", attempt: 2, indexes: "0"), job(token: "aa11,bb22", attempt: 2, indexes: "1"),
            job(token: "aa11,bb22,cc33", attempt: 2, indexes: "0-1"),
            job(token: "aa11,bb22,cc33", attempt: 2, indexes: "0,2"),
            job(body: #"{"device_tokens":["aa11"],"payload":{"aps":{}, "a":1}}"#),
            job(body: #"{"device_tokens":["aa11"],"payload":{"aps":{}, "a":2}}"#),
            job(enqueuedAt: 1_700_000_000_000), job(enqueuedAt: 1_700_000_000_001),
        ].map { try #require($0.redeliveryKey) }
        #expect(Set(keys).count == keys.count)
    }

    @Test("The journal tells the notifications of a job apart, and holds nothing of a device token")
    func journalKeys() throws {
        let tokens = "aa11aa11aa11aa11,bb22bb22bb22bb22"
        let keys = try [
            job(token: tokens).next(0), job(token: tokens).next(1), job(id: "job-2", token: tokens).next(0),
            job(token: tokens, attempt: 2).next(0), job(token: "aa11aa11aa11aa12,bb22bb22bb22bb22").next(0),
        ].map { try #require($0.journalKey) }
        #expect(Set(keys).count == keys.count)
        let again = try job(token: tokens, redelivered: true).next(1)
        #expect(again.journalKey == keys[1])
        // An id that is used again with another body of the same length is another notification.
        let bodies = [1, 2].map { #"{"device_tokens":["aa11"],"payload":{"aps":{"badge":\#($0)}}}"# }
        let reused = try bodies.map { try job(body: $0).next(0).journalKey }
        #expect(bodies[0].utf8.count == bodies[1].utf8.count && reused[0] != reused[1])
        // A copy about some of the tokens tells of each as the whole message does.
        let rest = try job(token: tokens, attempt: 1, indexes: "1").next(1)
        #expect(rest.journalKey == keys[1])
    }

    @Test("Only what was handed out before a redelivery, and is not sent again, passes for suppressed")
    func suppressed() throws {
        let job = try job(token: "aa11,bb22,cc33,dd44")
        func suppressed() -> [Int] { (0..<4).filter(job.isSuppressed) }
        let handedOut = (0..<3).compactMap { _ in job.next() }
        #expect(suppressed() == [])
        job.postpone(handedOut[1])
        #expect(!job.isRedelivered)
        job.redelivered(as: try self.job(token: "aa11,bb22,cc33,dd44", redelivered: true))
        #expect(job.isRedelivered, "another worker may have had it")
        #expect(suppressed() == [0, 2] && job.next()?.index == 3)
        job.resends(2)
        job.resends(3)
        #expect(suppressed() == [0])
        _ = job.takePostponed()
        job.redelivered(as: try self.job(token: "aa11,bb22,cc33,dd44", redelivered: true))
        #expect(suppressed() == [0, 1, 2, 3], "nothing was pushed for this delivery")
    }

    @Test("A replayed dead letter and a job without an id are never recognised")
    func never() throws {
        #expect(try job(replay: "monday").redeliveryKey == nil)
        #expect(try job(id: nil).redeliveryKey == nil)
        #expect(try job(replay: "monday").next(0).journalKey == nil)
        #expect(try job(id: nil).next(0).journalKey == nil)
    }
}
