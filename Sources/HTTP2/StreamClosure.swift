/// How a request ended.
package enum StreamClosure: Hashable, Sendable {
    /// The peer ended the response in order.
    case complete
    /// The peer reset the stream, or sent a response that HTTP/2 forbids; the request may have been processed.
    case reset(HTTP2ErrorCode)
    /// The peer provably did not process the request: its stream was above the last stream of a GOAWAY, refused, or
    /// never written.
    case unprocessed
    /// This side reset the stream after it had been written; the request may have been processed.
    case cancelled
    /// The connection was lost before the response was complete; the request may have been processed.
    case lost
}
