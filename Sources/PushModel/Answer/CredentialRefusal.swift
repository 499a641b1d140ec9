/// How APNs refused a credential, as it was seen.
package enum CredentialRefusal: Sendable, Equatable {
    /// In the answer to a request.
    case answer(Answer)
    /// Without an answer: in the TLS handshake, or with GOAWAY. The text says what was seen.
    case connection(String)

    /// Why the credential is refused, for people.
    package var text: String {
        switch self {
        case .answer(let answer): answer.reason?.rawValue ?? "status \(answer.status)"
        case .connection(let text): text
        }
    }
}
