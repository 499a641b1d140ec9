@testable import PushModel

// A span cannot be an argument within #expect, so the functions under test get twins that take text.
extension IndexRanges {
    static func parse(_ text: String, limit: Int) -> IndexRanges? { parse(text.bytes.span, limit: limit) }
}

extension Topic {
    static func isLegal(_ text: String) -> Bool { isLegal(text.bytes.span) }
    static func pushType(of text: String) -> PushType? { pushType(of: text.bytes.span) }
}

extension Reason {
    init(bytes: [UInt8]) { self.init(utf8: bytes.span) }
}

extension PushType {
    init(_ text: String) { self.init(0..<text.utf8.count, in: text.bytes.span) }
}

extension JobRoutingKey {
    init?(_ range: Range<Int>, of bytes: [UInt8]) { self.init(range, in: bytes.span) }
    static func mistake(in text: String) -> String? { mistake(0..<text.utf8.count, in: text.bytes.span) }
}

extension [UInt8] {
    var isUTF8: Bool { span.isUTF8() }
    var wholeNumber: Int64? { span.wholeNumber() }
}
