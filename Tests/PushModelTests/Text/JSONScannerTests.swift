import Testing
import Text

@testable import PushModel

@Suite("JSON text", .timeLimit(.minutes(1)))
struct JSONScannerTests {
    private static func scan(_ text: [UInt8]) throws(JSONError) -> JSONValue {
        var scanner = JSONScanner(0..<text.count)
        let value = try scanner.value(in: text.span)
        try scanner.finish(in: text.span)
        return value
    }

    @Test(
        "everything the grammar allows is accepted",
        arguments: [
            "{}", "[]", " [ ] ", "[1]", "[1,2]", "[[],[]]", "[{},{}]", #"{"a":{}}"#, #"{"a":[],"b":{}}"#, "0", "-0",
            "1",
            "-1", "10", "1.5", "0.0", "1e1", "1E+1", "1e-1", "123456789012345678901234567890", "true", "false", "null",
            #""""#, #""a""#, #""\"\\\/\b\f\n\r\t\u0000\uD83D\uDE00\ud800""#, "\"ä€😀\"", "\"\u{7F}\"",
            "\t\r\n {\n\"a\" : [ 1 , true , null ] }\n", #"{"":0}"#, #"{"a":0,"a":1}"#, #"[[[[[{"a":[{}]}]]]]]"#,
            "\"exactly8\"", "\"exactly 16 bytes\"", #""1234567\"""#,
        ])
    func accepted(_ text: String) throws {
        _ = try Self.scan(text.bytes)
    }

    @Test(
        "everything else is refused with its kind and place",
        arguments: [
            ("", JSONError.Kind.unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("{", .unexpectedEnd, 1),
            ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3),
            (#"{"a""#, .unexpectedEnd, 4), (#"{"a":"#, .unexpectedEnd, 5), (#"{"a":1"#, .unexpectedEnd, 6),
            (#"{"a":1,"#, .unexpectedEnd, 7), ("\"", .unexpectedEnd, 1), (#""\"#, .unexpectedEnd, 2),
            (#""\u00"#, .unexpectedEnd, 5), ("tru", .unexpectedEnd, 3), ("-", .unexpectedEnd, 1),
            ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
            ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
            (#"{"a":1,}"#, .unexpectedByte, 7), (#"{,"a":1}"#, .unexpectedByte, 1), ("{1:2}", .unexpectedByte, 1),
            (#"{"a" 1}"#, .unexpectedByte, 5), (#"{"a":}"#, .unexpectedByte, 5), ("[1}", .unexpectedByte, 2),
            (#"{"a":1]"#, .unexpectedByte, 6), ("'a'", .unexpectedByte, 0), ("True", .unexpectedByte, 0),
            ("trux", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("+1", .unexpectedByte, 0),
            (".5", .unexpectedByte, 0), ("// c\n1", .unexpectedByte, 0), ("\u{FEFF}{}", .unexpectedByte, 0),
            ("01", .badNumber, 0), ("-01", .badNumber, 1), ("-a", .badNumber, 1), ("1.a", .badNumber, 2),
            ("1ex", .badNumber, 2), (#""\x""#, .badEscape, 1), (#""\u00g0""#, .badEscape, 1),
            ("\"a\nb\"", .controlCharacter, 2), ("\"1234567\u{1F}\"", .controlCharacter, 8),
            ("{}{}", .trailingBytes, 2), ("1 2", .trailingBytes, 2), ("[]]", .trailingBytes, 2),
        ])
    func refused(_ text: String, _ kind: JSONError.Kind, _ offset: Int) {
        #expect(throws: JSONError(kind: kind, offset: offset)) { try Self.scan(text.bytes) }
    }

    @Test(
        "bytes that are not UTF-8 are refused where they stand",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xFE], [0xFF], [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x28, 0x80],
        ] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) {
        #expect(throws: JSONError(kind: .invalidUTF8, offset: 3)) { try Self.scan("\"ab".bytes + bytes + "\"".bytes) }
        #expect(!bytes.isUTF8)
        #expect(!("abcdefgh".bytes + bytes).isUTF8)
    }

    @Test("every character of Unicode is valid UTF-8")
    func allScalars() {
        var buffer: [UInt8] = []
        for value in stride(from: UInt32(0), through: 0x10FFFF, by: 7) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            buffer.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
        #expect(buffer.isUTF8)
    }

    @Test("nesting is accepted up to the limit and refused beyond it", arguments: ["[", "{\"a\":", "[{\"a\":"])
    func depth(_ opening: String) throws {
        let closing = opening.reversed().compactMap { $0 == "[" ? "]" : $0 == "{" ? "}" : nil }.joined()
        func nested(_ levels: Int) -> [UInt8] {
            let count = levels / closing.count
            return
                (String(repeating: opening, count: count) + "1" + String(repeating: closing, count: count)).bytes
        }
        _ = try Self.scan(nested(JSONScanner.maximumDepth))
        #expect(throws: JSONError.self) { try Self.scan(nested(JSONScanner.maximumDepth + closing.count)) }
    }

    @Test("a hundred thousand opening brackets are refused without a crash")
    func deepNesting() {
        #expect(throws: JSONError(kind: .tooDeep, offset: 64)) {
            try Self.scan([UInt8](repeating: 0x5B, count: 100_000))
        }
    }

    @Test(
        "values keep their kind, their place and what is special about them",
        arguments: [
            (#" "ab" "#, JSONValue(.string, 2..<4)), (#""a\n""#, JSONValue(.string, 1..<4, flag: true)),
            (" -12 ", JSONValue(.number, 1..<4)), ("1.0", JSONValue(.number, 0..<3, flag: true)),
            ("true", JSONValue(.boolean, 0..<4, flag: true)), ("false", JSONValue(.boolean, 0..<5)),
            (" null", JSONValue(.null, 1..<5)), (" [1] ", JSONValue(.array, 1..<4)),
            (" {} ", JSONValue(.object, 1..<3)),
        ])
    func values(_ text: String, _ expected: JSONValue) throws {
        #expect(try Self.scan(text.bytes) == expected)
    }

    @Test("an object gives its names in order, an array its elements")
    func walking() throws {
        let bytes = #"{"a":[1,[2],{"b":3}],"c":"d","e":{"f":null}}"#.bytes
        let text = bytes.span
        var scanner = JSONScanner(0..<bytes.count)
        var names: [String] = []
        var kinds: [JSONValue.Kind] = []
        let isArray = try scanner.enterArray(in: text)
        let isObject = try scanner.enterObject(in: text)
        #expect(!isArray && isObject)
        while let name = try scanner.nextName(in: text) {
            names.append(String(decoding: bytes[name.range], as: UTF8.self))
            let value = try scanner.value(in: text)
            kinds.append(value.kind)
            guard value.kind == .array else { continue }
            var list = JSONScanner(value.range)
            var count = 0
            if try list.enterArray(in: text) {
                while try list.hasElement(in: text) {
                    _ = try list.value(in: text)
                    count += 1
                }
            }
            #expect(count == 3)
        }
        try scanner.finish(in: text)
        #expect(names == ["a", "c", "e"])
        #expect(kinds == [.array, .string, .object])
    }

    @Test(
        "escapes are undone",
        arguments: [
            (#"plain"#, "plain"), (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\u0041\u00e4\u20AC"#, "Aä€"),
            (#"\uD83D\uDE00!"#, "😀!"), (#"\u0000"#, "\0"), ("ä\\u0020b", "ä b"),
        ])
    func unescape(_ text: String, _ expected: String) throws {
        var buffer = text.bytes
        let range = try #require(JSONText.unescape(0..<buffer.count, in: &buffer))
        #expect(String(decoding: buffer[range], as: UTF8.self) == expected)
    }

    @Test(
        "half a surrogate pair is not text and leaves the buffer as it was",
        arguments: [#"\ud800"#, #"\udc00"#, #"\ud800\ud800"#, #"\ud800x"#, #"ab\ud83d\n"#, #"\ud83d\u0041"#])
    func loneSurrogates(_ text: String) {
        var buffer = text.bytes
        #expect(JSONText.unescape(0..<buffer.count, in: &buffer) == nil)
        #expect(buffer == text.bytes)
    }

    /// Some bytes as a JSON string, as results have them.
    private static func written(_ text: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: ByteWriter.room(forString: text.count)) { free, count in
            var writer = ByteWriter(free)
            writer.write(string: text.span)
            count = writer.count
        }
    }

    @Test(
        "text is written with exactly the escapes it needs",
        arguments: [
            ("", #""""#), ("plain text", #""plain text""#), ("a\"b\\c/d", #""a\"b\\c/d""#), ("\n\r\t", #""\n\r\t""#),
            ("\0\u{1F}\u{7F}", "\"\\u0000\\u001f\u{7F}\""), ("ä€😀", "\"ä€😀\""),
            ("12345678\"12345678", #""12345678\"12345678""#),
        ])
    func escape(_ text: String, _ expected: String) {
        let buffer = Self.written(text.bytes)
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
    }

    @Test("bytes that are not UTF-8 are written as U+FFFD, so that the text stays JSON")
    func repaired() throws {
        let buffer = Self.written([0x61, 0xFF, 0x62, 0xE2, 0x82])
        #expect(String(decoding: buffer, as: UTF8.self) == "\"a\u{FFFD}b\u{FFFD}\u{FFFD}\"")
        _ = try Self.scan(buffer)
    }

    @Test("whatever is written is read back the same")
    func roundTrip() throws {
        var generator = SplitMix64(seed: 11)
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<(generator.next() % 20) {
                let value =
                    UInt32(truncatingIfNeeded: generator.next()) % (generator.next() % 4 == 0 ? 0x11_0000 : 0x80)
                if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
            }
            var buffer = Self.written(text.bytes)
            #expect(String(decoding: buffer, as: UTF8.self) == JSONEscaping.quoted(text))
            let value = try Self.scan(buffer)
            let range = try #require(JSONText.unescape(value.range, in: &buffer))
            #expect(Array(buffer[range]) == text.bytes)
        }
    }
}

// A span cannot be an argument within #expect, so the function under test gets a twin that takes an array.
extension [UInt8] {
    fileprivate var isUTF8: Bool { span.isUTF8() }
}
