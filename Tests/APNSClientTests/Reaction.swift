import HTTP2
import TestSupport

/// What the server of a test does about a request, in this order.
enum Reaction {
    /// Answers as APNs does, with the identifier of the request.
    case respond(Int, String = "", headers: [(String, String)] = [])
    /// Answers as something else than APNs.
    case gateway(Int, String = "", headers: [(String, String)] = [])
    case reset(HTTP2ErrorCode)
    /// With the last stream that is still answered; nil for the one at hand.
    case goAway(last: Int32?, HTTP2ErrorCode = .noError, debug: String = "")
    case announce(maxConcurrentStreams: UInt32)
    /// Sends bytes inside TLS that HTTP/2 may not allow.
    case raw([UInt8])
    /// Breaks the connection without a word.
    case drop
}
