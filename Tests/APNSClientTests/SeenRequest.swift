import TestSupport

/// A request as the server of a test saw it.
struct SeenRequest {
    var connection: Int
    /// From 0 on its connection.
    var number: Int
    var streamID: Int32
    var headers: [String: String]
    var headerNames: [String]
    var body: [UInt8]
    /// Streams open on the connection when it came, this one included.
    var openStreams: Int
}
