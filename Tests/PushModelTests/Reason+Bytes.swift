@testable import PushModel

// A span cannot be an argument within #expect, so the initializer under test gets a twin that takes bytes.
extension Reason {
    init(bytes: [UInt8]) { self.init(utf8: bytes.span) }
}
