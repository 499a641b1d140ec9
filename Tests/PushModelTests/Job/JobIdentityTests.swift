import Testing
import Text

@testable import PushModel

@Suite("Ids, history and routing of jobs", .timeLimit(.minutes(1)))
struct JobIdentityTests {
    @Test("without an id the job gets a UUIDv7 of now, and says so", arguments: [nil, ""])
    func generatedID(_ messageID: String?) throws {
        let job = try MessageBuilder.raw { $0.messageID = messageID }.job()
        #expect(job.generatedID)
        let text = try #require(job.text(job.jobID))
        #expect(text == "019aa579-9564-7ef0-9234-56789abcdef0")
        #expect(job.apnsID(0).description == text)
    }

    @Test("the body's id counts where there is no property, and may repeat it")
    func bodyID() throws {
        let fromBody = try MessageBuilder.enveloped(adding: #""id":"job-1""#) { $0.messageID = nil }.job()
        #expect(fromBody.text(fromBody.jobID) == "job-1" && !fromBody.generatedID)
        let escaped = try MessageBuilder.enveloped(adding: #""id":"job\u002d1""#) { $0.messageID = "job-1" }.job()
        #expect(escaped.text(escaped.jobID) == "job-1")
    }

    @Test("two different ids are invalid, and the property names the result")
    func mismatch() throws {
        let defect = try MessageBuilder.enveloped(adding: #""id":"job-1""#) { $0.messageID = "job-2" }.defect()
        #expect(defect.reason == .jobIDMismatch)
        #expect(defect.job.text(defect.job.jobID) == "job-2")
    }

    @Test("the apns-id is the given one, else the job's id if that is a UUID, else made from it")
    func apnsID() throws {
        let given = try MessageBuilder.enveloped(adding: #""apns_id":"EABEAE54-14A8-11E5-B60B-1697F925EC7B""#).job()
        #expect(given.apnsID(0).description == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        #expect(try MessageBuilder.enveloped(adding: "").job().apnsID(0).description == MessageBuilder.id)
        let named = try MessageBuilder.enveloped(adding: "") { $0.messageID = "job-1" }.job()
        #expect(named.apnsID(0).description == "637ddbab-f916-5067-bea6-01bebe655b59")
        let upper = try MessageBuilder.enveloped(adding: "") { $0.messageID = MessageBuilder.id.uppercased() }.job()
        #expect(upper.apnsID(0).description == MessageBuilder.id)
    }

    @Test("with many tokens each notification has its own apns-id; with a list of one it is the job's id")
    func apnsIDsOfMulticast() throws {
        func job(_ tokens: String, _ id: String) throws -> Job {
            try MessageBuilder.enveloped(#"{"device_tokens":[\#(tokens)],"payload":{}}"#) { $0.messageID = id }.job()
        }
        let two = try job(#""a1","b2""#, "job-1")
        #expect(two.apnsID(0).description == "637ddbab-f916-5067-bea6-01bebe655b59")
        #expect(two.apnsID(1) == UUIDBytes.v5(namespace: .contractNamespace, name: "job-1/1"))
        let uuid = try job(#""a1","b2""#, MessageBuilder.id)
        #expect(uuid.apnsID(1) == UUIDBytes.v5(namespace: .contractNamespace, name: MessageBuilder.id + "/1"))
        #expect(try job(#""a1""#, MessageBuilder.id).apnsID(0).description == MessageBuilder.id)
    }

    @Test("the headers of a retry copy count beside a version")
    func retryCopy() throws {
        let job = try MessageBuilder.raw {
            $0.way = .returned
            $0.headers += [
                ("x-apns-v", .integer(1)), ("x-apns-attempt", .integer(3)),
                ("x-apns-first-attempt-at", .integer(1_763_712_700_000)),
                ("x-apns-deadline", .integer(1_763_712_900_000)),
            ]
        }.job()
        #expect(job.attempt == 3 && job.firstAttemptAt == 1_763_712_700_000 && job.deadline == 1_763_712_900_000)
    }

    @Test(
        "without the version, and in what no tier sent back, such headers mean nothing",
        arguments: [
            (.returned, nil), (.returned, "0"), (.returned, "-1"), (.returned, "x"), (.published, nil),
            (.published, "1"), (.moved, "1"),
        ] as [(DeliveryWay, String?)])
    func producersOwn(_ way: DeliveryWay, _ version: String?) throws {
        let body = #"{"device_tokens":["a1","b2","c3"],"payload":{}}"#
        let job = try MessageBuilder.enveloped(body) {
            $0.messageID = "job-1"
            $0.way = way
            $0.set("x-apns-v", version.map { .text($0) })
            $0.headers += [
                ("x-apns-attempt", .integer(99)), ("x-apns-first-attempt-at", .other),
                ("x-apns-duplicate", .text("possible")), ("x-apns-original-routing-key", .text("no key")),
            ]
        }.job()
        #expect(!job.redelivered && job.firstRoutingKey == nil)
        #expect(job.attempt == 1 && job.firstAttemptAt == nil && job.indexes.isAll)
    }

    @Test("a copy of a later version is understood as far as it goes", arguments: ["1", "2", "17"])
    func laterVersion(_ version: String) throws {
        let job = try MessageBuilder.raw {
            $0.way = .returned
            $0.headers += [("x-apns-v", .text(version)), ("x-apns-attempt", .text("2"))]
        }.job()
        #expect(job.attempt == 2)
    }

    @Test(
        "unreadable headers of a retry copy are a defect",
        arguments: [
            ("x-apns-attempt", MessageBuilder.Value.integer(0)), ("x-apns-attempt", .integer(.max)),
            ("x-apns-attempt", .other), ("x-apns-first-attempt-at", .integer(.min)),
            ("x-apns-first-attempt-at", .text("x")), ("x-apns-first-attempt-at", .integer(.max)),
        ])
    func badRetryCopy(_ name: String, _ value: MessageBuilder.Value) throws {
        let defect = try MessageBuilder.raw {
            $0.way = .returned
            $0.headers += [("x-apns-v", .integer(1)), (name, value)]
        }.defect()
        #expect(defect.reason == .badHeaders)
        #expect(defect.detail.contains(name))
    }

    @Test(
        "a timestamp that is not a plausible time is not a time of queueing",
        arguments: [
            (.max, nil), (0, nil), (253_402_300_800, nil), (253_402_300_799, 253_402_300_799_000),
            (1_763_712_800_001, 1_763_712_800_001),
        ] as [(UInt64, Int64?)])
    func wildTimestamp(_ timestamp: UInt64, _ expected: Int64?) throws {
        #expect(try MessageBuilder.raw { $0.timestamp = timestamp }.job().enqueuedAt == expected)
    }

    @Test(
        "a malformed trace context is dropped and costs nothing",
        arguments: [
            "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "x0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ])
    func badTrace(_ trace: String) throws {
        #expect(try MessageBuilder.raw { $0.set("traceparent", .text(trace)) }.job().traceparent == nil)
    }

    @Test("environment and topic come from the body where the key does not parse")
    func bodyRouting() throws {
        let fields = #""topic":"com.example.app","environment":"development""#
        let job = try MessageBuilder.enveloped(adding: fields) { $0.routingKey = "apns.q.jobs.example" }.job()
        #expect(job.environment == .development && job.text(job.topic) == "com.example.app")
        #expect(job.jobClass == .normal)
        var key: [UInt8] = []
        job.appendRoutingKey(to: &key)
        #expect(String(decoding: key, as: UTF8.self) == "development.normal.com.example.app")
    }

    @Test("a routing key of 255 bytes is read")
    func longestKey() throws {
        let topic = String(repeating: "a", count: 200)
        let job = try MessageBuilder.raw { $0.routingKey = "production.high." + topic }.job()
        #expect(job.text(job.topic) == topic)
        let defect = try MessageBuilder.raw {
            $0.routingKey = "production.high." + String(repeating: "a", count: 239)
        }.defect()
        #expect(defect.reason == .missingTopic)
    }

    @Test("a mismatch names both sides")
    func mismatchDetail() throws {
        let topic = try MessageBuilder.enveloped(adding: #""topic":"com.example.other""#).defect()
        #expect(topic.detail.contains("com.example.other") && topic.detail.contains("com.example.app"))
        let environment = try MessageBuilder.enveloped(adding: #""environment":"development""#).defect()
        #expect(environment.detail.contains("development") && environment.detail.contains("production"))
    }

    @Test("a receiver can refuse what it cannot take, with all that can be read")
    func refusal() {
        var message = MessageBuilder.raw {
            $0.routingKey = "production.high.com.example.app"
            $0.correlationID = "c"
        }.message()
        message.body = message.body.lowerBound..<message.body.lowerBound
        let defect = JobDecoder().refuse(message, .bodyTooLarge, "the body has 10000000 bytes", now: 0, random: { 0 })
        #expect(defect.reason == .bodyTooLarge)
        #expect(defect.job.text(defect.job.jobID) == MessageBuilder.id)
        #expect(defect.job.environment == .production && defect.job.text(defect.job.topic) == "com.example.app")
        #expect(defect.job.text(defect.job.correlationID) == "c")
    }

    @Test("a receiver can refuse a job without a look at its body, which stays what it was")
    func unread() {
        let message = MessageBuilder.enveloped(#"{"id":"inside","device_tokens":["aa","bb"],"payload":{"aps":{}}}"#) {
            $0.messageID = MessageBuilder.id
        }.message()
        let body = message.body
        let defect = JobDecoder().refuseUnread(message, .poison, "often", now: 0, random: { 0 })
        #expect(defect.reason == .poison && defect.report.outcome == .exhausted && defect.report.action == .replay)
        #expect(defect.job.text(defect.job.jobID) == MessageBuilder.id)
        #expect(defect.job.body == body && defect.job.tokenCount == 0 && defect.job.isUnread)
        #expect(defect.job.environment == .production && defect.job.text(defect.job.topic) == "com.example.app")
    }

    @Test("a job in order can be refused by its receiver")
    func refusedJob() throws {
        let defect = try MessageBuilder.raw().job().refused(.noRoute, "no route takes this topic")
        #expect(defect.reason == .noRoute && defect.job.tokenCount == 1)
    }

    @Test(
        "a job's time ends with its deadline or its expiration, whichever is first",
        arguments: [
            (nil, nil, nil), (1_700_000_001_000, nil, 1_700_000_001_000), (nil, 1_700_000_002, 1_700_000_002_000),
            (nil, 0, nil), (1_700_000_001_000, 0, 1_700_000_001_000),
            (1_700_000_001_000, 1_700_000_002, 1_700_000_001_000),
            (1_700_000_003_000, 1_700_000_002, 1_700_000_002_000),
        ] as [(Int64?, Int64?, Int64?)])
    func expiry(_ deadline: Int64?, _ expiration: Int64?, _ expected: Int64?) throws {
        let job = try MessageBuilder.raw {
            $0.set("x-apns-deadline", deadline.map { .integer($0) })
            $0.set("apns-expiration", expiration.map { .integer($0) })
        }.job()
        #expect(job.expiry == expected)
        guard let expected else { return #expect(!job.isExpired(at: .max)) }
        #expect(!job.isExpired(at: expected))
        #expect(job.isExpired(at: expected + 1))
    }
}
