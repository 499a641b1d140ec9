@testable import HTTP2

extension HTTP2Request {
    /// The fields of the request as lines.
    var lines: [String] {
        headers.map { String(decoding: $0.name, as: UTF8.self) + ": " + String(decoding: $0.value, as: UTF8.self) }
    }
}
