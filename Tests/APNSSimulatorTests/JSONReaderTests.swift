import HTTP2
import Testing

@testable import APNSSimulator

@Suite("JSON without a tree", .timeLimit(.minutes(1)))
struct JSONReaderTests {
    @Test(
        "Objects are told from everything else",
        arguments: [
            ("{}", true), (" {\"a\":[1,2,{\"b\":null}],\"c\":-1.5e+3} ", true), (#"{"a":"\u00e9\n"}"#, true),
            ("{\"a\":true,\"b\":false}", true), ("", false), ("{", false), ("{\"a\"}", false), ("{\"a\":}", false),
            ("{\"a\":1,}", false), ("{a:1}", false), ("{\"a\":01}", false), ("{\"a\":1.}", false),
            ("{\"a\":\"\u{1}\"}", false), (#"{"a":"\x"}"#, false), (#"{"a":"\u12g4"}"#, false), ("{\"a\":nul}", false),
            ("[]", false), ("{} x", false), ("{\"a\":1e}", false),
        ])
    func objects(_ text: String, _ isObject: Bool) {
        #expect(JSONReader.isObject(Array(text.utf8)) == isObject)
    }

    @Test("Invalid UTF-8 and deep nesting are refused")
    func limits() {
        #expect(!JSONReader.isObject(Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)))
        let deep = String(repeating: "[", count: 100_000)
        #expect(!JSONReader.isObject(Array("{\"a\":\(deep)".utf8)))
    }

    @Test("Members come in order, nested ones without their content")
    func members() throws {
        let members = try #require(JSONReader.members(of: Array(#"{ "a" : "x", "b":12 ,"c":{"d":[1]},"e":"" }"#.utf8)))
        #expect(members.map { String(decoding: $0.name, as: UTF8.self) } == ["a", "b", "c", "e"])
        #expect(members.map(\.value) == [.string(Array("x".utf8)), .number(Array("12".utf8)), .other, .string([])])
    }
}
