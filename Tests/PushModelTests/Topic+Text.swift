@testable import PushModel

// A span cannot be an argument within #expect, so the functions under test get twins that take text.
extension Topic {
    static func isLegal(_ text: String) -> Bool { isLegal(text.bytes.span) }
    static func pushType(of text: String) -> PushType? { pushType(of: text.bytes.span) }
}
