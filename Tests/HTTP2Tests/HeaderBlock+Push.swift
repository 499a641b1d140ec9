@testable import HTTP2

extension HeaderBlock {
    /// The head of a usual request.
    static func push(path: String = "/3/device/00", extra: [(String, String)] = []) -> HeaderBlock {
        var block = HeaderBlock()
        block.append(":method", "POST")
        block.append(":scheme", "https")
        block.append(":path", Array(path.utf8).span)
        block.append(":authority", "localhost")
        for (name, value) in extra { block.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        return block
    }
}
