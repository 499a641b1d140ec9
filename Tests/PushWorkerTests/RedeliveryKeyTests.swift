import PushModel
import Testing

@testable import PushWorker

@Suite("What a redelivery is recognised by", .timeLimit(.minutes(1)))
struct RedeliveryKeyTests {
    /// A job in flight, read from an envelope.
    private func job(
        id: String? = "job-1", token: String = "aa11", attempt: Int? = nil, indexes: String? = nil,
        replay: String? = nil, redelivered: Bool = false, body: String? = nil
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
        for (name, number) in [("x-apns-v", attempt.map { _ in 1 }), ("x-apns-attempt", attempt)] {
            if let number { texts.append((add(name), .integer(Int64(number)))) }
        }
        var message = JobMessage(
            bytes: bytes, routingKey: 0..<key.count, contentType: type, messageID: idRange, body: bodyRange,
            redelivered: redelivered)
        for (name, value) in texts { message.headers.take(name: name, value: value, in: bytes) }
        var random = SplitMix64(seed: UInt64(bytes.count))
        let decoded = JobDecoder().decode(message, now: 1_000, random: { random.next() })
        return JobInFlight(
            job: try decoded.get(), refusal: nil, deliveryTag: 1, generation: 1, properties: 0..<0, receivedAt: 1_000)
    }

    @Test("Two deliveries of one message look alike")
    func alike() throws {
        let first = try #require(try job().redeliveryKey)
        #expect(try job(redelivered: true).redeliveryKey == first)
    }

    @Test("Another id, device, attempt, set of indexes or body is another job")
    func different() throws {
        let keys = try [
            job(), job(id: "job-2"), job(token: "aa12"), job(attempt: 2), job(token: "aa11,bb22"),
            job(token: "aa11,bb22", attempt: 2, indexes: "0"), job(token: "aa11,bb22", attempt: 2, indexes: "1"),
            job(body: #"{"device_tokens":["aa11"],"payload":{"aps":{}, "a":1}}"#),
        ].map { try #require($0.redeliveryKey) }
        #expect(Set(keys).count == keys.count)
    }

    @Test("The journal tells the notifications of a job apart, and holds nothing of a device token")
    func journalKeys() throws {
        let tokens = "aa11aa11aa11aa11,bb22bb22bb22bb22"
        let keys = try [
            Notification(job: job(token: tokens), index: 0), Notification(job: job(token: tokens), index: 1),
            Notification(job: job(id: "job-2", token: tokens), index: 0),
            Notification(job: job(token: tokens, attempt: 2), index: 0),
            Notification(job: job(token: "aa11aa11aa11aa12,bb22bb22bb22bb22"), index: 0),
        ].map { try #require($0.journalKey) }
        #expect(Set(keys).count == keys.count)
        let again = try Notification(job: job(token: tokens, redelivered: true), index: 1)
        #expect(again.journalKey == keys[1])
        // A copy about some of the tokens tells of each as the whole message does.
        let rest = try Notification(job: job(token: tokens, attempt: 1, indexes: "1"), index: 1)
        #expect(rest.journalKey == keys[1])
    }

    @Test("A replayed dead letter and a job without an id are never recognised")
    func never() throws {
        #expect(try job(replay: "monday").redeliveryKey == nil)
        #expect(try job(id: nil).redeliveryKey == nil)
        #expect(try Notification(job: job(replay: "monday"), index: 0).journalKey == nil)
        #expect(try Notification(job: job(id: nil), index: 0).journalKey == nil)
    }
}
