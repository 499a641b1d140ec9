package import PushModel

/// How a request ended. Each request that was submitted gets exactly one answer.
package enum PushAnswer: Sendable {
    /// APNs answered.
    case response(APNSResponse)
    /// Provably not carried out. The request may be sent again at once. There are three cases:
    ///
    /// - Its stream was above GOAWAY's last stream, was refused, or was never written.
    /// - The status says that APNs refused the request, but the stream broke off before the reason arrived.
    /// - APNs turned the request away because of a credential version that is not proved or was replaced.
    case unprocessed
    /// Sent, but the answer is missing. APNs may or may not have processed the request. The time is from the submission
    /// of the request until it was given up.
    case unanswered(UnansweredCause, microseconds: Int64)
}
