@testable import HTTP2

/// The bytes of a span as text.
func text(_ span: Span<UInt8>) -> String {
    span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
}

/// The fields of a request as lines.
func lines(_ request: HTTP2Request) -> [String] {
    request.headers.map { String(decoding: $0.name, as: UTF8.self) + ": " + String(decoding: $0.value, as: UTF8.self) }
}

/// The head of a usual request.
func pushHead(path: String = "/3/device/00", extra: [(String, String)] = []) -> HeaderBlock {
    var block = HeaderBlock()
    block.append(":method", "POST")
    block.append(":scheme", "https")
    block.append(":path", Array(path.utf8).span)
    block.append(":authority", "localhost")
    for (name, value) in extra { block.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
    return block
}
