import Foundation
import TestSupport
import Testing

@testable import PushModel

@Suite("The schemas of the contract", .timeLimit(.minutes(2)))
struct ContractTests {
    /// Jobs that are accepted although the schema refuses them, and why.
    private static let moreLenient = [
        // Its bad entries fail alone.
        "tokens-mixed.json"
    ]

    /// Jobs that a schema cannot refuse: it knows neither the present time, nor the message around the body, nor bytes,
    /// it compares no times, 5.0 is an integer to it, and to Python's validator a pattern that ends with `$` matches
    /// before a line break at the end.
    private static let moreStrict: Set<String> = [
        "RoutingMismatch-environment.json", "RoutingMismatch-suffix.json", "RoutingMismatch-topic.json",
        "JobIdMismatch-other.json", "PayloadTooLarge-4097.json", "PayloadTooLarge-voip-5121.json",
        "BadCollapseId-65-bytes-33-characters.json", "BadDeviceToken-newline.json", "InvalidPushType-newline.json",
        "BadPriority-default-background-10.json",
        "BadType-priority-exponent.json", "BadType-priority-fraction.json",
        "BadNotBefore-31-days.json", "BadNotBefore-deadline.json", "BadNotBefore-expiration.json",
    ]

    @Test("jobs that the worker accepts obey the schema")
    func accepted() throws {
        let check = ContractCheck()
        for name in try Fixture.names(in: "accepted") where !Self.moreLenient.contains(name) {
            for schema in [ContractCheck.Schema.job, .jobLine] {
                check.note(schema, json: try Fixture.bytes("accepted/" + name), about: name)
            }
        }
        #expect(try check.problems() == [])
    }

    @Test("jobs that the worker refuses for what is in their body break the schemas of jobs and of job lines")
    func refused() throws {
        let check = ContractCheck()
        var expected: Set<String> = []
        // What is not JSON, or not UTF-8, breaks every schema.
        let isJSON: (String) -> Bool = { !$0.hasPrefix("BadJSON-") && !$0.hasPrefix("BadEncoding-") }
        for name in try Fixture.names(in: "refused") where isJSON(name) && !Self.moreStrict.contains(name) {
            let bytes = try Fixture.bytes("refused/" + name)
            for schema in [ContractCheck.Schema.job, .jobLine] {
                check.note(schema, json: bytes, about: name)
                expected.insert("\(schema.rawValue), \(name)")
            }
        }
        let problems = try check.problems()
        #expect(expected.count > 100)
        #expect(expected.filter { name in !problems.contains { $0.hasPrefix("\(name): ") } } == [])
    }

    /// A message's headers as JSON shows them: bytes as the text that they are, tokens in hexadecimal.
    private static func headers(of message: MessageBuilder) throws -> [UInt8] {
        var object: [String: Any] = [:]
        for (name, value) in message.headers {
            object[name] =
                switch value {
                case .text(let text): text
                case .bytes(let bytes) where name == "apns-device-token":
                    bytes.map { String(format: "%02x", $0) }.joined()
                case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
                case .integer(let number): number
                case .timestamp(let seconds): seconds
                case .other: [Int]()
                }
        }
        return [UInt8](try JSONSerialization.data(withJSONObject: object))
    }

    /// Raw jobs that are in order.
    private static let acceptedRaw: [(String, RawJobTests.Change)] = [
        ("as simple as can be", { _ in }),
        ("bytes for a token", { $0.set("apns-device-token", .bytes([1, 2, 255])) }),
        ("a named push", { $0.set("x-apns-operation", .text("push")) }),
        (
            "every header",
            {
                $0.headers += [
                    ("apns-topic", .text("com.example.app")), ("apns-push-type", .text("background")),
                    ("apns-priority", .integer(5)), ("apns-expiration", .integer(1_795_264_800)),
                    ("apns-collapse-id", .text("order-4711")),
                    ("apns-id", .text("EABEAE54-14A8-11E5-B60B-1697F925EC7B")),
                    ("x-apns-deadline", .integer(1_763_712_900_000)), ("x-apns-on-unknown", .text("report")),
                    ("x-apns-not-before", .text("2025-11-21T08:14:10Z")),
                    ("x-apns-reference", .text("campaign-7/user-81")), ("traceparent", .text("00-0a-b7-01")),
                    ("x-apns-replay", .text("r1")), ("apns-future", .text("x")), ("x-other", .other),
                ]
            }
        ),
        (
            "numbers as text, and text as bytes or numbers",
            {
                $0.headers += [
                    ("apns-priority", .text("5")), ("apns-expiration", .bytes("0".bytes)),
                    ("apns-collapse-id", .integer(4711)), ("x-apns-reference", .bytes("user".bytes)),
                    ("x-apns-deadline", .text("1763712900000")), ("x-apns-enqueued-at", .text("1763712800001")),
                ]
            }
        ),
        ("a broadcast", { $0.headers = [("apns-channel-id", .text(BroadcastChannelJobTests.channelID))] }),
        (
            "a named broadcast",
            {
                $0.headers = [
                    ("apns-channel-id", .text(BroadcastChannelJobTests.channelID)),
                    ("x-apns-operation", .text("broadcast")),
                    ("apns-push-type", .text("liveactivity")), ("apns-priority", .text("5")),
                ]
            }
        ),
        (
            "a new broadcast channel",
            {
                $0.headers = [("x-apns-operation", .text("create_channel"))]
                $0.body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.bytes
            }
        ),
        (
            "a list",
            {
                $0.headers = [("x-apns-operation", .text("list_channels"))]
                $0.body = []
            }
        ),
    ]

    @Test("raw jobs that the worker accepts obey the schema of their headers")
    func acceptedHeaders() throws {
        let check = ContractCheck()
        for (name, change) in Self.acceptedRaw {
            let message = MessageBuilder.raw(change)
            _ = try message.job()
            check.note(.rawJobHeaders, json: try Self.headers(of: message), about: name)
        }
        #expect(try check.problems() == [])
    }

    /// Reasons that headers alone do not show: they are about the message around them, about bytes, or about a header
    /// that is given twice.
    private static let notOfHeaders: Set<Reason> = [
        .badContentType, .badEncoding, .badJobID, .badRequestPayload, .badStoragePolicy, .duplicateHeaders,
        .missingEnvironment, .missingTopic, .payloadEmpty, .payloadTooLarge, .routingMismatch,
    ]

    /// Raw jobs that are refused for their headers, beside those that other tests have.
    private static let refusedRaw: [(String, Reason, RawJobTests.Change)] = [
        ("no headers", .missingDeviceToken, { $0.headers = [] }),
        ("a word for a token", .badDeviceToken, { $0.set("apns-device-token", .text("xyz!")) }),
        (
            "an urgent background push in text", .badPriority,
            { $0.headers += [("apns-push-type", .text("background")), ("apns-priority", .text("10"))] }
        ),
        ("a push without a token", .missingDeviceToken, { $0.headers = [("x-apns-operation", .text("push"))] }),
        (
            "a token and a broadcast channel", .ambiguousDeviceToken,
            { $0.set("apns-channel-id", .text(BroadcastChannelJobTests.channelID)) }
        ),
        ("a list with a token", .ambiguousDeviceToken, { $0.set("x-apns-operation", .text("list_channels")) }),
        (
            "a broadcast channel without a name", .missingChannelID,
            { $0.headers = [("x-apns-operation", .text("read_channel"))] }
        ),
        (
            "a new broadcast channel with a name", .badOperation,
            {
                $0.headers = [
                    ("x-apns-operation", .text("create_channel")),
                    ("apns-channel-id", .text(BroadcastChannelJobTests.channelID)),
                ]
            }
        ),
        (
            "a broadcast channel of 600 characters", .badChannelID,
            { $0.headers = [("apns-channel-id", .text(String(repeating: "A", count: 600)))] }
        ),
        (
            "a broadcast of another type", .invalidPushType,
            {
                $0.headers = [
                    ("apns-channel-id", .text(BroadcastChannelJobTests.channelID)), ("apns-push-type", .text("alert")),
                ]
            }
        ),
        (
            "a broadcast that replaces", .badCollapseID,
            {
                $0.headers = [
                    ("apns-channel-id", .text(BroadcastChannelJobTests.channelID)), ("apns-collapse-id", .text("x")),
                ]
            }
        ),
    ]

    @Test("raw jobs that the worker refuses for their headers break the schema")
    func refusedHeaders() throws {
        let check = ContractCheck()
        let broadcastChannels = BroadcastChannelJobTests.refusedRaw.enumerated().map { index, row in
            let change: RawJobTests.Change = { ($0.headers, $0.body) = (row.0, row.1.bytes) }
            return ("broadcast channel \(index)", row.2, change)
        }
        var expected: [String] = []
        for (name, reason, change) in RawJobTests.defects + broadcastChannels + Self.refusedRaw
        where !Self.notOfHeaders.contains(reason) {
            let message = MessageBuilder.raw(change)
            #expect(try message.defect().reason == reason, "\(name)")
            check.note(.rawJobHeaders, json: try Self.headers(of: message), about: name)
            expected.append(name)
        }
        let problems = try check.problems()
        #expect(expected.count > 50)
        #expect(expected.filter { name in !problems.contains { $0.hasPrefix("raw-job-headers, \(name): ") } } == [])
    }

    /// Headers of enveloped jobs of any operation that are in order.
    private static let acceptedEnveloped: [(String, [(String, MessageBuilder.Value)])] = [
        ("none", []),
        (
            "every header",
            [
                ("x-apns-deadline", .integer(1_763_712_900_000)), ("x-apns-on-unknown", .text("report")),
                ("x-apns-not-before", .text("2025-11-21T08:14:10Z")),
                ("x-apns-reference", .text("campaign-7/user-81")), ("x-apns-enqueued-at", .integer(1_763_712_800)),
                ("x-apns-replay", .text("r1")), ("x-apns-results", .text("batch")),
                ("traceparent", .text("00-0a-b7-01")), ("x-other", .other),
            ]
        ),
        (
            "numbers as text, and text as bytes or numbers",
            [
                ("x-apns-deadline", .text("1763712900000")), ("x-apns-on-unknown", .bytes("retry".bytes)),
                ("x-apns-reference", .integer(4711)), ("x-apns-enqueued-at", .text("1763712800001")),
                ("x-apns-replay", .integer(1)),
            ]
        ),
        ("headers that count in raw jobs only", [("apns-priority", .text("eleven")), ("apns-topic", .other)]),
    ]

    @Test("headers that the worker accepts around an enveloped job obey their schema")
    func acceptedEnvelopeHeaders() throws {
        let check = ContractCheck()
        for name in try Fixture.names(in: "accepted") {
            for (what, headers) in Self.acceptedEnveloped {
                let message = MessageBuilder.enveloped(try Fixture.text("accepted/" + name)) {
                    $0.messageID = "job-1"
                    $0.headers = headers
                }
                _ = try message.job()
                check.note(.jobHeaders, json: try Self.headers(of: message), about: "\(what), \(name)")
            }
        }
        let operations: [(String, String)] = [
            ("push", #""device_token":"\#(MessageBuilder.token)","payload":{}"#),
            ("broadcast", #""channel_id":"\#(BroadcastChannelJobTests.channelID)","payload":{}"#),
            ("create_channel", #""storage_policy":1"#), ("list_channels", ""),
            ("read_channel", #""channel_id":"\#(BroadcastChannelJobTests.channelID)""#),
            ("delete_channel", #""channel_id":"\#(BroadcastChannelJobTests.channelID)""#),
        ]
        for (operation, fields) in operations {
            let message = BroadcastChannelJobTests.enveloped(fields) {
                $0.headers = [("x-apns-operation", .text(operation))]
            }
            _ = try message.job()
            check.note(.jobHeaders, json: try Self.headers(of: message), about: operation)
        }
        #expect(try check.problems() == [])
    }

    @Test("headers that the worker refuses around an enveloped job break their schema")
    func refusedEnvelopeHeaders() throws {
        let check = ContractCheck()
        let ofBoth: Set<Reason> = [
            .badResults, .badDeadline, .badNotBefore, .badOnUnknown, .badReference, .badHeaders,
        ]
        let operations: [(String, Reason, RawJobTests.Change)] = [
            ("an operation that nobody knows", .badOperation, { $0.set("x-apns-operation", .text("dance")) }),
            ("an operation of another kind", .badOperation, { $0.set("x-apns-operation", .other) }),
        ]
        var expected: [String] = []
        for (name, reason, change) in RawJobTests.defects.filter({ ofBoth.contains($0.1) }) + operations {
            let message = MessageBuilder.enveloped(adding: "", change)
            #expect(try message.defect().reason == reason, "\(name)")
            check.note(.jobHeaders, json: try Self.headers(of: message), about: name)
            expected.append(name)
        }
        let problems = try check.problems()
        #expect(expected.count > 8)
        #expect(expected.filter { name in !problems.contains { $0.hasPrefix("job-headers, \(name): ") } } == [])
    }

    @Test("jobs about broadcast channels that the worker refuses for what is in their body break the schema")
    func refusedBroadcastChannels() throws {
        let check = ContractCheck()
        // A parser of JSON keeps one of two fields.
        let rows = BroadcastChannelJobTests.refused.enumerated().filter { $0.element.1 != .badJSON }
        for (index, row) in rows { check.note(.job, json: "{\(row.0)}".bytes, about: "row \(index)") }
        let problems = try check.problems()
        let missed = rows.filter { row in !problems.contains { $0.hasPrefix("job, row \(row.offset): ") } }
        #expect(missed.map(\.element.0) == [])
    }

    /// The names of a schema's properties.
    private static func properties(of schema: String) throws -> Set<String> {
        let file = URL(filePath: "\(PythonEnvironment.repository)/config/contract/\(schema).schema.json")
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return Set(try #require(schema?["properties"] as? [String: Any]).keys)
    }

    /// The stored properties of a value that are not nil.
    private static func filled(_ value: Any) -> Set<String> {
        Set(
            Mirror(reflecting: value).children.compactMap { label, value in
                let mirror = Mirror(reflecting: value)
                return mirror.displayStyle == .optional && mirror.children.isEmpty ? nil : label
            })
    }

    @Test("the schema of jobs has the fields that the worker reads, and no other")
    func jobFields() throws {
        let names = try Self.properties(of: "job")
        #expect(names == Set(JobField.allCases.map(\.stringValue)))
        let all = Mirror(reflecting: Envelope()).children.compactMap(\.label)
        let none = Self.filled(Envelope())
        var read: Set<String> = []
        for name in names {
            var envelope = Envelope()
            envelope.take(name.bytes.span, JSONValue(.string, 0..<1))
            #expect(envelope.unknownCount == 0, "\(name)")
            read.formUnion(Self.filled(envelope).subtracting(none))
        }
        #expect(Set(all).subtracting(none) == read)
        #expect(read.count == names.count)
    }

    @Test("the schema of a raw job's headers has those that the worker reads, and no other")
    func headerNames() throws {
        let names = try Self.properties(of: "raw-job-headers")
        let all = Mirror(reflecting: JobHeaders()).children.compactMap(\.label)
        let none = Self.filled(JobHeaders())
        var read: Set<String> = []
        for name in names {
            var headers = JobHeaders()
            headers.take(name: 0..<name.utf8.count, value: .integer(1), in: name.bytes)
            let found = Self.filled(headers).subtracting(none)
            #expect(found.count == 1, "\(name)")
            read.formUnion(found)
        }
        // Those that a worker writes on its copies and dead letters.
        let written: Set = ["version", "attempt", "firstAttemptAt", "indexes", "duplicate", "originalRoutingKey"]
        #expect(Set(all).subtracting(none).subtracting(written) == read)
        #expect(read.count == names.count)
        #expect(try Self.properties(of: "job-headers") == names.filter { !$0.hasPrefix("apns-") })
    }

    @Test("a field that the schema lacks is a problem")
    func strictness() throws {
        let check = ContractCheck()
        check.note(
            .resultHeaders, json: Array(#"{"x-apns-outcome":"accepted","x-apns-attempt":1,"x-apns-new":1}"#.utf8),
            about: "new")
        #expect(try check.problems() == ["result-headers, new: x-apns-new: the schema lacks it"])
    }

    @Test("the schema of results has the fields that results have")
    func resultFields() throws {
        #expect(try Self.properties(of: "result") == Set(ResultField.allCases.map(\.stringValue)))
        #expect(ResultField.allCases.allSatisfy { ResultField(stringValue: $0.stringValue) == $0 })
    }
}
