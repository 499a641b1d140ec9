import Testing

@testable import PushModel

@Suite("Small values", .timeLimit(.minutes(1)))
struct ValueTests {
    @Test(
        "whole numbers are read by hand",
        arguments: [
            ("0", 0), ("-0", 0), ("42", 42), ("007", 7), ("-42", -42), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil), ("", nil),
            ("-", nil), ("+1", nil), ("1.0", nil), (" 1", nil), ("1 ", nil), ("1e3", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int64?)])
    func numbers(_ text: String, _ expected: Int64?) {
        #expect(text.bytes.wholeNumber == expected)
    }

    @Test("whole numbers are written by hand", arguments: [0, 1, -1, 9, 10, 99, 100, 12345, .max, .min] as [Int64])
    func writtenNumbers(_ number: Int64) {
        var buffer: [UInt8] = [0x78]
        buffer.append(decimal: number)
        #expect(String(decoding: buffer, as: UTF8.self) == "x\(number)")
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 20)
        defer { memory.deallocate() }
        var writer = ByteWriter(memory)
        writer.write(decimal: number)
        #expect(String(decoding: memory[0..<writer.count], as: UTF8.self) == "\(number)")
    }

    @Test(
        "topics are 1 to 200 letters, digits, dots and dashes",
        arguments: [
            ("com.example.app", true), ("a", true), ("com.example.app.voip-ptt", true), ("COM.Example-1", true),
            ("", false), ("com.example app", false), ("com_example", false), ("com.exämple", false), ("a/b", false),
            (String(repeating: "a", count: 200), true), (String(repeating: "a", count: 201), false), ("a\n", false),
        ])
    func topics(_ text: String, _ isLegal: Bool) {
        #expect(Topic.isLegal(text) == isLegal)
    }

    @Test(
        "a topic's suffix stands for a push type",
        arguments: [
            ("com.example.app", nil), ("com.example.app.voip", .voip), ("com.example.app.complication", .complication),
            ("com.example.app.voip-ptt", .pushToTalk), ("com.example.app.location-query", .location),
            ("com.example.app.pushkit.fileprovider", .fileProvider),
            ("com.example.app.push-type.liveactivity", .liveActivity), ("com.example.app.push-type.widgets", .widgets),
            ("com.example.app.push-type.controls", .controls), (".voip", nil), ("voip", nil),
            ("com.example.xvoip", nil),
            ("com.example.voip.app", nil), ("com.example.app.VOIP", nil),
        ] as [(String, PushType?)])
    func suffixes(_ topic: String, _ expected: PushType?) {
        #expect(Topic.pushType(of: topic) == expected)
    }

    @Test("each suffix of the contract belongs to exactly the push type that names it")
    func suffixesOfTypes() {
        for suffix in Topic.suffixes {
            let type = Topic.pushType(of: "com.example\(suffix)")
            #expect(type?.topicSuffix.description == suffix.description)
        }
        #expect(Topic.suffixes.count == 8)
    }

    @Test(
        "push types are told apart, and unknown ones kept",
        arguments: [
            "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location", "mdm",
            "pushtotalk", "voip", "widgets",
        ])
    func pushTypes(_ name: String) {
        let type = PushType(name)
        #expect(type.isKnown)
        #expect(type.text.description == name)
        #expect(type.payloadLimit == (name == "voip" ? 5120 : 4096))
        let other = PushType(String(name.dropLast()))
        #expect(other == .other(0..<(name.utf8.count - 1)))
        #expect(!other.isKnown)
    }

    @Test(
        "routing keys are taken apart",
        arguments: [
            ("production.high.com.example.app", APNSEnvironment.production, JobClass.high, "com.example.app"),
            ("production.normal.com.example.app", .production, .normal, "com.example.app"),
            ("development.high.a", .development, .high, "a"),
            ("development.normal.a.voip", .development, .normal, "a.voip"),
        ])
    func routingKeys(_ text: String, _ environment: APNSEnvironment, _ jobClass: JobClass, _ topic: String) throws {
        let bytes = "xx\(text)yy".bytes
        let key = try #require(JobRoutingKey(2..<(bytes.count - 2), of: bytes))
        #expect(key.environment == environment)
        #expect(key.jobClass == jobClass)
        #expect(String(decoding: bytes[key.topic], as: UTF8.self) == topic)
    }

    @Test(
        "other keys are not a job's",
        arguments: [
            "", ".", "production", "production.", "production.high", "production.high.", "production.normal.",
            "development.normal.", "production.low.com.example.app", "sandbox.high.com.example.app",
            "Production.high.com.example.app", "production.high.com_example", "apns.q.jobs.example",
            "productionXhigh.com.example.app", "production.highXcom.example.app", "production..com.example.app",
        ])
    func notRoutingKeys(_ text: String) {
        #expect(JobRoutingKey(0..<text.utf8.count, of: text.bytes) == nil)
    }

    @Test(
        "what is wrong with a routing key is named",
        arguments: [
            ("production.normal.com.example.app", nil), ("development.high.a", nil),
            ("orders.created", "must be <environment>.<class>.<topic>"), ("", "must be <environment>.<class>.<topic>"),
            ("prod.normal.com.example.app", "environment prod is neither production nor development"),
            ("production.urgent.com.example.app", "class urgent is neither high nor normal"),
            ("production..com.example.app", "class is neither high nor normal"),
            ("production.ur\u{1b}gent.com.example.app", "class is neither high nor normal"),
            ("production.normal.com/example", "topic must be 1 to 200"), ("production.high.", "topic must be 1 to 200"),
        ] as [(String, String?)])
    func routingKeyMistakes(_ text: String, _ words: String?) {
        let mistake = JobRoutingKey.mistake(in: text)
        #expect((mistake == nil) == (words == nil))
        if let words { #expect(mistake?.contains(words) == true, "\(mistake ?? "")") }
    }

    @Test("reasons are the same from text and from bytes, and unlisted ones survive")
    func reasons() {
        for known in Reason.Known.allCases {
            let reason = Reason(rawValue: known.rawValue)
            #expect(reason.known == known)
            #expect(Reason(bytes: known.rawValue.bytes) == reason)
            #expect(reason.rawValue == known.rawValue)
        }
        let other = Reason(bytes: "SomethingNew".bytes)
        #expect(other == Reason(rawValue: "SomethingNew"))
        #expect(other.rawValue == "SomethingNew")
        #expect(other.known == nil)
        #expect(Reason(rawValue: "badtopic") != .badTopic)
        #expect(Reason(bytes: [0xFF]).rawValue == "\u{FFFD}")
    }
}

// A span cannot be an argument within #expect, so the functions under test get twins that take text.
extension PushType {
    fileprivate init(_ text: String) { self.init(0..<text.utf8.count, in: text.bytes.span) }
}

extension JobRoutingKey {
    fileprivate init?(_ range: Range<Int>, of bytes: [UInt8]) { self.init(range, in: bytes.span) }
    fileprivate static func mistake(in text: String) -> String? { mistake(0..<text.utf8.count, in: text.bytes.span) }
}

extension [UInt8] {
    fileprivate var wholeNumber: Int64? { span.wholeNumber() }
}
