/// The broker's answer to a published message.
package enum PublishResult: Sendable, Equatable {
    /// The message is stored in all queues that it was routed to; there may be none.
    case confirmed
    /// The broker refused responsibility for it.
    case nacked
    /// The broker returned the message, because no queue took it; with the reason in words.
    case returned(String)
}
