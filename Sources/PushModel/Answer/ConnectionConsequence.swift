/// What an answer means for the connection it came on.
package enum ConnectionConsequence: Sendable, Equatable {
    /// Nothing.
    case keep
    /// Count it against the connection, which is retired when it happens again and again.
    case strike
    /// Take no more requests on it, let the rest finish, and close it.
    case retire
}
