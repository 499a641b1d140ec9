/// How one attempt at a notification ended.
package enum Attempted: Sendable, Equatable {
    /// APNs answered.
    case response(Answer)
    /// APNs provably did not process the request: its stream is above GOAWAY's last stream, was refused, or was never
    /// written.
    case unprocessed
    /// Sent without an answer.
    case unanswered(UnansweredCause)
    /// Not sent, because its time had passed.
    case expired
    /// Not sent, because the host it needs could not be reached; the text says why.
    case unreachable(String)
    /// Not sent, because APNs refused the credential a moment ago.
    case heldBack(CredentialRefusal)
}
