@testable import PushModel

extension UUIDBytes {
    /// The canonical text.
    var text: String {
        var buffer: [UInt8] = []
        append(to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }
}

// A span cannot be an argument within #expect, so the functions under test get twins that take text.
extension UUIDBytes {
    static func parse(_ text: String) -> UUIDBytes? { parse(text.bytes.span) }
    static func v5(namespace: UUIDBytes, name: String) -> UUIDBytes { v5(namespace: namespace, name: name.bytes.span) }
}
