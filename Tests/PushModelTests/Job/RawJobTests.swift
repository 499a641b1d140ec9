import Testing
import Text

@testable import PushModel

@Suite("Raw jobs", .timeLimit(.minutes(1)))
struct RawJobTests {
    @Test("a raw job is taken as it is, with every default of the contract")
    func defaults() throws {
        let job = try MessageBuilder.raw().job()
        #expect(job.text(job.payload) == #"{"aps":{"alert":"hello"}}"#)
        #expect(job.tokenTexts == [MessageBuilder.token])
        #expect(job.text(job.jobID) == MessageBuilder.id)
        #expect(!job.generatedID)
        #expect(job.environment == .production)
        #expect(job.jobClass == .normal)
        #expect(job.text(job.topic) == "com.example.app")
        #expect(job.pushType == .alert)
        #expect(job.priority == 10)
        #expect(job.expiration == nil && job.collapseID == nil && job.deadline == nil)
        #expect(job.onUnknown == .retry)
        #expect(job.attempt == 1 && job.firstAttemptAt == nil && job.enqueuedAt == nil)
        #expect(!job.isMulticast && job.tokenCount == 1 && job.notificationCount == 1)
        #expect(job.nextIndex(from: 0) == 0 && job.nextIndex(from: 1) == nil)
        #expect(job.correlationID == nil && job.replyTo == nil && job.reference == nil && job.traceparent == nil)
        #expect(job.apnsID(0).description == MessageBuilder.id)
        #expect(job.tokenDefect(0) == nil)
        #expect(job.unknownFields == 0)
    }

    @Test("every header and property of the contract is honoured")
    func everything() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let job = try MessageBuilder.raw {
            $0.routingKey = "development.high.com.example.app"
            $0.correlationID = "correlation"
            $0.replyTo = "apns.q.reply.shop.1"
            $0.timestamp = 1_763_712_800
            $0.redelivered = true
            $0.headers += [
                ("apns-topic", .text("com.example.app")), ("apns-push-type", .text("background")),
                ("apns-priority", .integer(5)), ("apns-expiration", .integer(1_795_264_800)),
                ("apns-collapse-id", .text("order-4711")), ("apns-id", .text("EABEAE54-14A8-11E5-B60B-1697F925EC7B")),
                ("x-apns-deadline", .integer(1_763_712_900_000)), ("x-apns-on-unknown", .text("report")),
                ("x-apns-reference", .text("campaign-7/user-81")), ("traceparent", .text(trace)),
                ("tracestate", .text("vendor=1")),
                ("x-apns-replay", .text("r1")), ("apns-future", .text("x")), ("x-other", .other),
            ]
        }.job()
        #expect(job.environment == .development && job.jobClass == .high)
        #expect(job.pushType == .background && job.priority == 5)
        #expect(job.expiration == 1_795_264_800)
        #expect(job.text(job.collapseID) == "order-4711")
        #expect(job.apnsID(0).description == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        #expect(job.deadline == 1_763_712_900_000)
        #expect(job.onUnknown == .report)
        #expect(job.text(job.reference) == "campaign-7/user-81")
        #expect(job.text(job.traceparent) == trace && job.text(job.tracestate) == "vendor=1")
        #expect(job.text(job.replay) == "r1")
        #expect(job.text(job.correlationID) == "correlation")
        #expect(job.text(job.replyTo) == "apns.q.reply.shop.1")
        #expect(job.enqueuedAt == 1_763_712_800_000)
        #expect(job.redelivered)
        #expect(job.unknownFields == 1)
    }

    @Test("the body of a raw job is not parsed")
    func bodyIsNotParsed() throws {
        for body in [[UInt8]("no JSON".utf8), [0xFF, 0x00, 0x80], [0x20]] {
            let job = try MessageBuilder.raw { $0.body = body }.job()
            #expect(Array(job.bytes[job.payload]) == body)
        }
    }

    @Test("a byte order mark before a body is dropped: APNs gets the payload without it")
    func mark() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let raw = try MessageBuilder.raw { $0.body = mark + $0.body }.job()
        #expect(raw.text(raw.payload) == #"{"aps":{"alert":"hello"}}"#)
        let enveloped = try MessageBuilder.enveloped(adding: "") { $0.body = mark + $0.body }.job()
        #expect(enveloped.text(enveloped.payload) == #"{"aps":{"alert":"hello"}}"#)
        #expect(try MessageBuilder.raw { $0.body = mark }.defect().reason == .payloadEmpty)
    }

    @Test(
        "a body that is compressed or UTF-16 is named in both forms",
        arguments: [
            ([0x1F, 0x8B, 8, 0], "the body is compressed (gzip); send it as it is, without compression"),
            ([0x78, 0x9C, 0xAB], "the body is compressed (zlib); send it as it is, without compression"),
            ([0x28, 0xB5, 0x2F, 0xFD], "the body is compressed (Zstandard); send it as it is, without compression"),
            ([0xFF, 0xFE, 0x7B, 0], "the body is written in UTF-16; send it in UTF-8"),
            ([0x7B, 0, 0x7D, 0], "the body is written in UTF-16; send it in UTF-8"),
            ([0, 0x7B, 0, 0x7D], "the body is written in UTF-16; send it in UTF-8"),
        ] as [([UInt8], String)])
    func encodedBodies(body: [UInt8], detail: String) throws {
        for builder in [MessageBuilder.raw(), MessageBuilder.enveloped("")] {
            var builder = builder
            builder.body = body
            let defect = try builder.defect()
            #expect(defect.reason == .badEncoding && defect.detail == detail)
        }
    }

    @Test("a header of a kind that it cannot have is named with its kind and what to send")
    func headerKinds() throws {
        for (name, words) in [
            ("apns-priority", "the header apns-priority is a decimal number, and must be a whole number"),
            ("apns-expiration", "the header apns-expiration is a decimal number; write 2030-01-01T12:00:00Z"),
            ("apns-collapse-id", "the header apns-collapse-id is a decimal number, and must be text"),
            ("apns-device-token", "the header apns-device-token is a decimal number, and must be hexadecimal text"),
        ] {
            let defect = try MessageBuilder.raw { $0.set(name, .other) }.defect()
            #expect(defect.detail.hasPrefix(words), "\(defect.detail)")
        }
    }

    @Test("numbers may be given as text, and text as bytes")
    func kinds() throws {
        let job = try MessageBuilder.raw {
            $0.headers += [
                ("apns-priority", .text("5")), ("apns-expiration", .bytes("0".bytes)),
                ("apns-collapse-id", .integer(4711)), ("x-apns-reference", .bytes("user".bytes)),
                ("x-apns-deadline", .text("1763712900000")), ("x-apns-enqueued-at", .text("1763712800001")),
            ]
            $0.timestamp = 7
        }.job()
        #expect(job.priority == 5 && job.expiration == 0 && job.deadline == 1_763_712_900_000)
        #expect(job.text(job.collapseID) == "4711")
        #expect(job.text(job.reference) == "user")
        #expect(job.enqueuedAt == 1_763_712_800_001)
    }

    @Test("a token of bytes is sent in hexadecimal, whatever its length", arguments: [1, 32, 100, 200])
    func tokenBytes(_ length: Int) throws {
        let job = try MessageBuilder.raw {
            $0.set("apns-device-token", .bytes([UInt8](repeating: 0xA5, count: length)))
        }.job()
        #expect(job.tokenTexts == [String(repeating: "a5", count: length)])
    }

    @Test("a token of text is sent as written", arguments: ["ab", "ABCDEF", "0123456789abcdefABCDEF", "abcd"])
    func tokenText(_ token: String) throws {
        #expect(try MessageBuilder.raw { $0.set("apns-device-token", .text(token)) }.job().tokenTexts == [token])
    }

    @Test(
        "a topic's suffix chooses the push type where none is given",
        arguments: [
            (".voip", PushType.voip), (".voip-ptt", .pushToTalk), (".complication", .complication),
            (".location-query", .location), (".pushkit.fileprovider", .fileProvider),
            (".push-type.liveactivity", .liveActivity), (".push-type.widgets", .widgets),
            (".push-type.controls", .controls), ("", .alert),
        ])
    func pushTypeBySuffix(_ suffix: String, _ expected: PushType) throws {
        let job = try MessageBuilder.raw { $0.routingKey += suffix }.job()
        #expect(job.pushType == expected)
        let given = try MessageBuilder.raw {
            $0.routingKey += suffix
            $0.set("apns-push-type", .text("mdm"))
        }.job()
        #expect(given.pushType == .mdm)
    }

    @Test("a raw job is never taken for a background push by its payload")
    func noBackgroundByPayload() throws {
        let job = try MessageBuilder.raw { $0.body = #"{"aps":{"content-available":1}}"#.bytes }.job()
        #expect(job.pushType == .alert && job.priority == 10)
    }

    @Test(
        "content types are compared without case and parameters",
        arguments: [
            "application/vnd.apns.payload+json", "Application/VND.apns.payload+JSON",
            "application/vnd.apns.payload+json; charset=utf-8", "application/vnd.apns.payload+json;charset=utf-8",
        ])
    func contentTypes(_ type: String) throws {
        _ = try MessageBuilder.raw { $0.contentType = type }.job()
    }

    @Test(
        "content encodings that change nothing are accepted",
        arguments: ["", "identity", "utf-8", "UTF-8", "utf8", "binary"])
    func contentEncodings(_ encoding: String) throws {
        _ = try MessageBuilder.raw { $0.contentEncoding = encoding }.job()
    }

    typealias Change = @Sendable (inout MessageBuilder) -> Void

    /// What is wrong with a raw job, the reason it gets, and the change that makes it so.
    static let defects: [(String, Reason, Change)] = [
        ("no content type", .badContentType, { $0.contentType = nil }),
        ("another content type", .badContentType, { $0.contentType = "text/plain" }),
        ("a longer content type", .badContentType, { $0.contentType = "application/jsonx" }),
        ("an empty content type", .badContentType, { $0.contentType = "" }),
        ("a compressed body", .badEncoding, { $0.contentEncoding = "gzip" }),
        ("no token", .missingDeviceToken, { $0.set("apns-device-token", nil) }),
        ("an empty token", .missingDeviceToken, { $0.set("apns-device-token", .text("")) }),
        ("an empty token of bytes", .missingDeviceToken, { $0.set("apns-device-token", .bytes([])) }),
        ("a token with an odd number of digits", .badDeviceToken, { $0.set("apns-device-token", .text("a1b")) }),
        ("a token that is not hexadecimal", .badDeviceToken, { $0.set("apns-device-token", .text("xyz")) }),
        ("a token with a path", .badDeviceToken, { $0.set("apns-device-token", .text("../a")) }),
        ("a token that is a number", .badDeviceToken, { $0.set("apns-device-token", .integer(12)) }),
        ("a token of another kind", .badDeviceToken, { $0.set("apns-device-token", .other) }),
        (
            "an overlong token", .badDeviceToken,
            {
                $0.set("apns-device-token", .text(String(repeating: "a", count: 401)))
            }
        ),
        (
            "an overlong token of bytes", .badDeviceToken,
            {
                $0.set("apns-device-token", .bytes([UInt8](repeating: 1, count: 201)))
            }
        ),
        (
            "a huge token of bytes", .badDeviceToken,
            {
                $0.set("apns-device-token", .bytes([UInt8](repeating: 0x61, count: 70_000)))
            }
        ),
        ("an illegal topic", .badTopic, { $0.set("apns-topic", .text("com_example")) }),
        ("a topic of another kind", .badTopic, { $0.set("apns-topic", .other) }),
        ("a topic that is not the key's", .routingMismatch, { $0.set("apns-topic", .text("com.example.other")) }),
        ("no topic at all", .missingTopic, { $0.routingKey = "apns.q.jobs.example" }),
        (
            "no environment at all", .missingEnvironment,
            {
                $0.routingKey = "apns.q.jobs.example"
                $0.set("apns-topic", .text("com.example.app"))
            }
        ),
        ("an empty push type", .invalidPushType, { $0.set("apns-push-type", .text("")) }),
        ("a push type with a line break", .invalidPushType, { $0.set("apns-push-type", .text("alert\r\nx: y")) }),
        ("a push type of another kind", .invalidPushType, { $0.set("apns-push-type", .other) }),
        ("a priority of 7", .badPriority, { $0.set("apns-priority", .integer(7)) }),
        ("a priority of 0", .badPriority, { $0.set("apns-priority", .integer(0)) }),
        ("a priority of 266", .badPriority, { $0.set("apns-priority", .integer(266)) }),
        ("a priority in words", .badPriority, { $0.set("apns-priority", .text("high")) }),
        ("a priority of another kind", .badPriority, { $0.set("apns-priority", .other) }),
        (
            "an urgent background push", .badPriority,
            {
                $0.set("apns-push-type", .text("background"))
                $0.set("apns-priority", .integer(10))
            }
        ),
        ("a negative expiration", .badExpirationDate, { $0.set("apns-expiration", .integer(-1)) }),
        ("an expiration in words", .badExpirationDate, { $0.set("apns-expiration", .text("tomorrow")) }),
        ("an expiration of another kind", .badExpirationDate, { $0.set("apns-expiration", .other) }),
        (
            "an overlong collapse id", .badCollapseID,
            {
                $0.set("apns-collapse-id", .text(String(repeating: "a", count: 65)))
            }
        ),
        ("an empty collapse id", .badCollapseID, { $0.set("apns-collapse-id", .text("")) }),
        ("a collapse id with a line break", .badCollapseID, { $0.set("apns-collapse-id", .text("a\r\nb: c")) }),
        ("a collapse id of another kind", .badCollapseID, { $0.set("apns-collapse-id", .other) }),
        ("a collapse id that is not UTF-8", .badEncoding, { $0.set("apns-collapse-id", .bytes([0x61, 0xFF])) }),
        ("an apns-id that is not a UUID", .badMessageID, { $0.set("apns-id", .text("1")) }),
        ("an apns-id of another kind", .badMessageID, { $0.set("apns-id", .other) }),
        ("a deadline in words", .badDeadline, { $0.set("x-apns-deadline", .text("tomorrow")) }),
        ("a deadline in minutes", .badDeadline, { $0.set("x-apns-deadline", .integer(10)) }),
        ("a deadline of another kind", .badDeadline, { $0.set("x-apns-deadline", .other) }),
        ("a start in words", .badNotBefore, { $0.set("x-apns-not-before", .text("tomorrow")) }),
        ("a start in minutes", .badNotBefore, { $0.set("x-apns-not-before", .integer(10)) }),
        ("a start of another kind", .badNotBefore, { $0.set("x-apns-not-before", .other) }),
        ("another word for results", .badResults, { $0.set("x-apns-results", .text("single")) }),
        ("results of another kind", .badResults, { $0.set("x-apns-results", .other) }),
        ("another wish for the unknown", .badOnUnknown, { $0.set("x-apns-on-unknown", .text("drop")) }),
        ("a wish of another kind", .badOnUnknown, { $0.set("x-apns-on-unknown", .other) }),
        (
            "an overlong reference", .badReference,
            {
                $0.set("x-apns-reference", .text(String(repeating: "a", count: 1025)))
            }
        ),
        ("a reference of another kind", .badReference, { $0.set("x-apns-reference", .other) }),
        ("a reference that is not UTF-8", .badEncoding, { $0.set("x-apns-reference", .bytes([0xFF])) }),
        ("a time of queueing in words", .badHeaders, { $0.set("x-apns-enqueued-at", .text("now")) }),
        ("a negative time of queueing", .badHeaders, { $0.set("x-apns-enqueued-at", .integer(-1)) }),
        ("an id that is not UTF-8", .badJobID, { $0.messageIDBytes = [0xFF] }),
        ("an empty body", .payloadEmpty, { $0.body = [] }),
        ("a body of 4097 bytes", .payloadTooLarge, { $0.body = [UInt8](repeating: 0x20, count: 4097) }),
        (
            "a VoIP body of 5121 bytes", .payloadTooLarge,
            {
                $0.set("apns-push-type", .text("voip"))
                $0.body = [UInt8](repeating: 0x20, count: 5121)
            }
        ),
        (
            "a header given twice", .duplicateHeaders,
            {
                $0.headers += [("apns-priority", .integer(5)), ("apns-priority", .integer(5))]
            }
        ),
    ]

    @Test("what is wrong with a job gets its reason and a detail", arguments: 0..<defects.count)
    func defect(_ row: Int) throws {
        let (name, reason, change) = Self.defects[row]
        let defect = try MessageBuilder.raw(change).defect()
        #expect(defect.reason == reason, "\(name): \(defect.detail)")
        #expect(defect.detail.count > 20, "\(name)")
        #expect(!defect.detail.contains(MessageBuilder.token), "\(name)")
        #expect(!defect.detail.contains("hello"), "\(name)")
        #expect(!defect.job.jobID.isEmpty, "\(name)")
        #expect(defect.report.outcome == .invalid && defect.report.action == .fixRequest)
    }

    @Test("limits are inclusive")
    func limits() throws {
        _ = try MessageBuilder.raw { $0.body = [UInt8](repeating: 0x20, count: 4096) }.job()
        _ = try MessageBuilder.raw {
            $0.body = [UInt8](repeating: 0x20, count: 5120)
            $0.routingKey = "production.high.com.example.app.voip"
        }.job()
        _ = try MessageBuilder.raw { $0.set("apns-device-token", .text(String(repeating: "a", count: 400))) }.job()
        _ = try MessageBuilder.raw { $0.set("apns-collapse-id", .text(String(repeating: "ä", count: 32))) }.job()
        _ = try MessageBuilder.raw { $0.set("x-apns-reference", .text(String(repeating: "a", count: 1024))) }.job()
        _ = try MessageBuilder.raw { $0.messageID = String(repeating: "a", count: 255) }.job()
    }

    @Test("header values of every kind in every place are answered, never fatal")
    func everyKindEverywhere() {
        let names = [
            "apns-device-token", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
            "apns-id", "x-apns-deadline", "x-apns-on-unknown", "x-apns-reference", "traceparent", "tracestate",
            "x-apns-enqueued-at",
            "x-apns-not-before", "x-apns-results", "x-apns-replay", "x-apns-v", "x-apns-attempt",
            "x-apns-first-attempt-at",
            "x-apns-indexes",
        ]
        let values: [MessageBuilder.Value] = [
            .text(""), .text("x"), .text("1"), .bytes([]), .bytes([0xFF, 0xFE]), .integer(.min), .integer(.max),
            .integer(0), .integer(1), .other,
        ]
        for name in names {
            for value in values {
                for version in [nil, MessageBuilder.Value.integer(1)] {
                    let builder = MessageBuilder.raw {
                        $0.way = version == nil ? .published : .returned
                        $0.set("x-apns-v", version)
                        $0.set(name, value)
                    }
                    if case .success(let job) = builder.decode() {
                        let facts = AttemptFacts(job)
                        _ = RetryPolicy().settle(.response(Answer(status: 503)), job: facts, now: 1_763_712_800_000)
                        _ = RetryPolicy().settle(.response(Answer(status: 403)), job: facts, now: 1_763_712_800_000)
                    }
                }
            }
        }
    }
}
