import Text

@testable import PushModel

extension UUIDBytes {
    /// The UUID that names something within a namespace, with a name that may stand in an expectation.
    static func v5(namespace: UUIDBytes, name: String) -> UUIDBytes { v5(namespace: namespace, name: name.bytes.span) }
}
