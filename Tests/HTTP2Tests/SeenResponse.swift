@testable import HTTP2

/// A response as a client test saw it.
struct SeenResponse: Equatable {
    var headers: [String] = []
    var body: [UInt8] = []
}
