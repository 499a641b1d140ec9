/// Why an answer is missing.
package enum UnansweredCause: Sendable, Equatable, CustomStringConvertible {
    /// Nothing came within the request timeout.
    case deadline
    /// APNs reset the stream, with this error code of HTTP/2.
    case reset(code: UInt32)
    /// The connection broke or was closed.
    case connectionLost

    /// The cause for a person, as results quote it.
    package var description: String {
        switch self {
        case .deadline: "no answer before the request timeout"
        case .reset(let code): "APNs reset the stream (HTTP/2 error code \(code))"
        case .connectionLost: "the connection was lost before the answer"
        }
    }
}
