import BrokerClient
import EventLoop
import PushModel
import TLS
import Testing

@testable import APNSClient
@testable import PushWorker
@testable import RabbitMQ
@testable import WorkerSettings

@Suite("Letters of the broker", .timeLimit(.minutes(1)))
struct BrokerLetterTests {
    private static let multicast = #"{"id":"job-1","device_tokens":["aa11","bb22","cc33"],"payload":{"aps":{}}}"#
    private static let now: Int64 = 1_763_712_800_000

    /// What a letter says of one death, latest first.
    private struct Death {
        var queue: String
        var reason: String
        var exchange = "apns.jobs"
        /// The producer's `expiration`, which the broker took off.
        var expiration: String?
    }

    /// A letter as it stands on the wire.
    private func letter(
        _ deaths: [Death], headers: [(String, String)] = [], returns: UInt8 = 0, body: String = multicast,
        key: String = "development.normal.com.example.app", replyTo: String? = nil
    ) -> Delivery {
        func short(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }
        func long(_ bytes: [UInt8]) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
        }
        func text(_ name: String, _ value: String) -> [UInt8] {
            short(name) + [UInt8(ascii: "S")] + long(Array(value.utf8))
        }
        var table: [UInt8] = []
        for (name, value) in headers { table += text(name, value) }
        if returns > 0 { table += short("x-delivery-count") + [UInt8(ascii: "B"), returns] }
        if !deaths.isEmpty {
            let tables = deaths.flatMap { death in
                let keys = [UInt8(ascii: "S")] + long(Array("development.normal.com.example.app".utf8))
                return [UInt8(ascii: "F")]
                    + long(
                        text("reason", death.reason) + text("queue", death.queue) + text("exchange", death.exchange)
                            + short("routing-keys")
                            + [UInt8(ascii: "A")] + long(keys)
                            + (death.expiration.map { text("original-expiration", $0) } ?? []))
            }
            table += short("x-death") + [UInt8(ascii: "A")] + long(tables)
        }
        let flags: UInt16 = 1 << 15 | 1 << 13 | (replyTo == nil ? 0 : 1 << 9)
        var bytes = Array(key.utf8)
        let keyRange = 0..<bytes.count
        bytes += [UInt8(flags >> 8), UInt8(flags & 255)] + short("application/json") + long(table)
        if let replyTo { bytes += short(replyTo) }
        let properties = keyRange.upperBound..<bytes.count
        bytes += body.utf8
        return Delivery(
            channel: 1, deliveryTag: 1, redelivered: returns > 0, bytes: bytes, exchange: 0..<0, routingKey: keyRange,
            properties: properties, body: properties.upperBound..<bytes.count, bodySize: UInt64(body.utf8.count),
            isTruncated: false)
    }

    private func read(
        _ deaths: [Death], headers: [(String, String)] = [], body: String = multicast
    ) -> BrokerLetter? {
        BrokerLetter(letter(deaths, headers: headers, body: body), provesDeaths: true, now: Self.now)
    }

    @Test(
        "The latest death of a job says what its results say, and of which route they are",
        arguments: [
            ("apns.q.jobs.app", "expired", "app", "expired", "ExpirationPassed", [0, 1, 2]),
            ("apns.q.jobs.app.high", "expired", "app", "expired", "ExpirationPassed", [0, 1, 2]),
            ("apns.q.jobs.unrouted", "expired", nil, "expired", "ExpirationPassed", [0, 1, 2]),
            ("apns.q.jobs.app", "delivery_limit", "app", "exhausted", "Poison", [0]),
            ("apns.q.jobs.app.return", "delivery_limit", "app", "exhausted", "Poison", [0]),
            ("apns.q.jobs.unrouted.return", "delivery_limit", nil, "exhausted", "Poison", [0]),
            ("apns.q.jobs.return", "expired", "return", "expired", "ExpirationPassed", [0, 1, 2]),
            ("apns.q.jobs.high.high", "expired", "high", "expired", "ExpirationPassed", [0, 1, 2]),
        ] as [(String, String, String?, String, String, [Int])])
    func reasons(
        _ queue: String, _ reason: String, _ route: String?, _ outcome: String, _ word: String, _ indexes: [Int]
    ) throws {
        let tier = Death(queue: "apns.q.retry.5000", reason: "expired")
        let letter = try #require(read([Death(queue: queue, reason: reason), tier]))
        #expect(letter.route == route)
        #expect(letter.report.outcome.rawValue == outcome && letter.report.reason?.rawValue == word)
        #expect(letter.indexes == indexes)
        #expect(letter.job.job.redelivered)
    }

    @Test(
        "The result of an expired job says whose time was over",
        arguments: [
            ("60000", "expiration (60000 ms)", true), (nil, "message-ttl", false), ("soon", "message-ttl", false),
            ("", "message-ttl", false),
        ] as [(String?, String, Bool)])
    func expiration(_ row: (expiration: String?, words: String, isProducers: Bool)) throws {
        let death = Death(queue: "apns.q.jobs.app", reason: "expired", expiration: row.expiration)
        let detail = try #require(read([death])?.report.detail)
        #expect(detail.contains(row.words) && detail.contains("tell the operator") != row.isProducers)
    }

    @Test("Nobody knows why a job came back too often, so its result is that of a job to replay")
    func deliveryLimit() throws {
        let report = try #require(read([Death(queue: "apns.q.jobs.app", reason: "delivery_limit")])?.report)
        #expect(report.outcome == .exhausted && report.action == .replay)
        #expect(report.detail?.contains("died") == true && report.detail?.contains("given back") == true)
    }

    @Test(
        "Nothing is reported of a letter whose job a worker reports, or that no queue of jobs wrote",
        arguments: [
            [Death(queue: "apns.q.jobs.app", reason: "rejected")],
            [Death(queue: "apns.q.jobs.app", reason: "maxlen")],
            [Death(queue: "apns.q.retry.5000", reason: "expired"), Death(queue: "apns.q.jobs.app", reason: "expired")],
            [Death(queue: "", reason: "expired")],
            [],
        ])
    private func ignored(_ deaths: [Death]) { #expect(read(deaths) == nil) }

    @Test("Only the indexes are reported that the job was about, under the id and the attempt of the job")
    func indexes() throws {
        let headers = [("x-apns-indexes", "1-2"), ("x-apns-v", "1"), ("x-apns-attempt", "3")]
        // Only tiers publish to `apns.return`, so only what came by it has the attempt of a worker.
        for (exchange, attempt) in [("apns.return", 3), ("apns.jobs", 1)] {
            let death = Death(queue: "apns.q.jobs.app.return", reason: "expired", exchange: exchange)
            let letter = try #require(read([death], headers: headers))
            #expect(letter.indexes == [1, 2])
            #expect(letter.job.job.attempt == attempt)
        }
    }

    @Test(
        "A job that cannot be read has one result",
        arguments: ["", "not JSON", #"{"id":"job-1"}"#, #"{"id":"job-1","device_tokens":[]}"#])
    func unreadable(_ body: String) throws {
        let letter = try #require(read([Death(queue: "apns.q.jobs.app", reason: "expired")], body: body))
        #expect(letter.indexes == [0])
        #expect(letter.report.outcome == .expired)
    }

    @Test("The body of a letter that came back often is not read again, and its result stays the same")
    func poison() throws {
        let death = Death(queue: "apns.q.jobs.app", reason: "expired")
        let often = try #require(BrokerLetter(letter([death], returns: 20), provesDeaths: true, now: Self.now))
        #expect(often.indexes == [0] && often.job.job.isUnread)
        #expect(often.report.outcome == .expired)
        let seldom = try #require(BrokerLetter(letter([death], returns: 19), provesDeaths: true, now: Self.now))
        #expect(seldom.indexes == [0, 1, 2])
    }

    @Test("A job without a route names no app, because a producer may have written the key in x-death")
    func originalKey() throws {
        let death = Death(queue: "apns.q.jobs.unrouted", reason: "expired")
        let letter = try #require(BrokerLetter(letter([death], key: "invalid.-.-"), provesDeaths: true, now: Self.now))
        #expect(letter.route == nil && letter.job.job.environment == nil && letter.job.job.topic.isEmpty)
    }

    @Test("A job that came by a producer's own exchange speaks in nobody's name")
    func foreignExchange() throws {
        let death = Death(queue: "apns.q.jobs.app", reason: "expired", exchange: "apns.q.reply.shop.e")
        let letter = try #require(BrokerLetter(letter([death]), provesDeaths: true, now: Self.now))
        #expect(letter.job.job.environment == nil && letter.job.job.topic.isEmpty)
        let trusted = try #require(
            BrokerLetter(
                self.letter([death]), trusting: [Array("apns.q.reply.shop.e".utf8)], provesDeaths: true, now: Self.now))
        #expect(trusted.job.job.environment == .development)
    }

    @Test(
        "Where a producer can write x-death, a job that RabbitMQ ended speaks in nobody's name, and its result says why"
    )
    func forgeableDeath() throws {
        let death = Death(queue: "apns.q.jobs.app", reason: "expired")
        let letter = try #require(BrokerLetter(letter([death]), provesDeaths: false, now: Self.now))
        #expect(letter.job.job.environment == nil && letter.job.job.topic.isEmpty && letter.route == "app")
        #expect(letter.report.detail?.hasSuffix("Before version 4.0 nothing proves which app the job was for") == true)
    }

    @Test("A job that another queue's dead letters led to its queue speaks in nobody's name")
    func foreignQueue() throws {
        let deaths = [
            Death(queue: "apns.q.jobs.app", reason: "expired"),
            Death(queue: "apns.q.reply.shop.dlx", reason: "expired", exchange: ""),
        ]
        let letter = try #require(BrokerLetter(letter(deaths), provesDeaths: true, now: Self.now))
        #expect(letter.job.job.environment == nil && letter.job.job.topic.isEmpty)
    }

    /// A clock that goes on with each reply.
    private final class Clock {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    }

    private func writer(_ clock: Clock) throws -> BrokerLetterWriter {
        let broker = BrokerConfiguration(
            uris: [], allowsPlaintext: false, heartbeat: .seconds(15), tls: BrokerTLSConfiguration())
        let settings = LaneSettings(
            routes: [], routeCount: 0,
            credentials: try CredentialStore([], trust: TrustRoots(systemRoots: false, files: [])), instance: "test",
            broker: broker, policy: RetryPolicy(), tierNames: [], version: "test",
            replyPattern: try ReplyPattern("reply"), includesDeviceToken: true,
            pool: APNSPoolConfiguration(requestTimeout: .seconds(1), pingInterval: .seconds(60)))
        return BrokerLetterWriter(settings, now: { clock.now })
    }

    @Test("Once the broker failed at a letter, letters are read one at a time, and a person is told the way out")
    func careful() throws {
        let many = UInt16(RefusedLetters.most) + 10
        let rows: [(code: UInt16?, words: String?, prefetch: UInt16)] = [
            (nil, nil, many), (320, nil, many), (403, "run martlet topology apply", many),
            (404, "run martlet topology apply", many), (541, "it cannot deliver one of its letters", 1),
        ]
        for row in rows {
            var progress = BrokerLetterReporter.Progress(writer: try writer(Clock()))
            let trouble = progress.connectionLost(over: AMQPError(.connectionClosed, "closed", replyCode: row.code))
            #expect(trouble?.rawValue.hasSuffix(row.words ?? "") ?? (row.words == nil), "\(row)")
            #expect((trouble?.remedy?.contains("purge_queue") == true) == (row.code == 541), "\(row)")
            #expect(trouble?.endsWithTheLetters ?? true, "\(row)")
            _ = progress.connectionLost(over: AMQPError(.connectionLost, "lost"))
            #expect(progress.prefetch == row.prefetch, "\(row)")
        }
        #expect(!BrokerLetterReporter.Trouble.refused.endsWithTheLetters)
    }

    @Test("Replies that take long end for a letter, and for its app's next ones, while all results go out")
    func slowReplies() throws {
        let clock = Clock()
        var writer = try writer(clock)
        /// How many replies of three went out, and how many of the results say nothing of a lost one.
        func write(_ time: Duration) throws -> [Int] {
            let delivery = letter([Death(queue: "apns.q.jobs.app", reason: "expired")], replyTo: "reply")
            let letter = try #require(BrokerLetter(delivery, provesDeaths: true, now: Self.now))
            var (replies, unharmed, results) = (0, 0, 0)
            var number: UInt64 = 0
            try writer.write(letter) { message, isReply throws(AMQPError) in
                number += 1
                if isReply {
                    replies += 1
                    clock.now = clock.now + time
                } else {
                    results += 1
                    if !String(decoding: message.bytes, as: UTF8.self).contains("no reply was sent") { unharmed += 1 }
                }
                return number
            } answers: { () throws(AMQPError) in
                (0...number).map { ($0, .confirmed) }
            }
            #expect(results == 3)
            return [replies, unharmed]
        }
        #expect(try write(.milliseconds(1)) == [3, 3])
        #expect(try write(.milliseconds(600)) == [2, 2])
        #expect(try write(.milliseconds(1)) == [0, 0])
        clock.now = clock.now + BrokerLetterWriter.rest
        #expect(try write(.milliseconds(1)) == [3, 3])
    }
}
