package import PushModel

/// How a request ended. Each request that was submitted gets exactly one answer.
package enum PushAnswer: Sendable {
    /// APNs answered.
    case response(APNSResponse)
    /// Provably never processed: above GOAWAY's last stream, refused, or never written. It may be sent again at once.
    case unprocessed
    /// Sent, but the answer is missing. It may or may not have been processed.
    case unanswered(UnansweredCause)
}
