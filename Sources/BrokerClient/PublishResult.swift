/// What the broker says about a published message.
package enum PublishResult: Sendable, Equatable {
    /// It is stored, wherever it was routed to.
    case confirmed
    /// The broker refused responsibility for it.
    case nacked
    /// No queue took it; with the reason in words.
    case returned(String)
}
