@testable import HTTP2

/// One closed request.
struct SeenClosure: Hashable {
    var tag: Int
    var streamID: Int32
    var closure: StreamClosure
}
