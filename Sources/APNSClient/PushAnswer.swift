/// How a request ended; each one that was submitted gets exactly one answer.
package enum PushAnswer: Sendable {
    /// APNs answered.
    case response(APNSResponse)
    /// Provably never processed: above GOAWAY's last stream, refused, or never written. It may be sent again at once.
    case unprocessed
    /// Sent, but the answer is missing: it may or may not have been processed.
    case unanswered(UnansweredCause)
}
