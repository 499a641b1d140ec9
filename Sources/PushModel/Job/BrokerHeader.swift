/// The names of the headers that the broker writes or acts on, spelled once for reader and writer. `HeaderName` has the
/// headers of the contract.
package enum BrokerHeader {
    /// Further routing keys of a message: <https://www.rabbitmq.com/docs/sender-selected>.
    package static var copies: StaticString { "CC" }
    /// Further routing keys, which the broker takes off the message.
    package static var hiddenCopies: StaticString { "BCC" }
    /// The queues that dead-lettered the message: <https://www.rabbitmq.com/docs/dlx#effects>.
    package static var death: StaticString { "x-death" }
    /// How the names of headers begin that are about the first dead-lettering.
    package static var firstDeathPrefix: StaticString { "x-first-death-" }
    /// How the names of headers begin that are about the last dead-lettering.
    package static var lastDeathPrefix: StaticString { "x-last-death-" }
    /// The queue that dead-lettered the message first.
    package static var firstDeathQueue: StaticString { "x-first-death-queue" }
    /// Why that queue did so.
    package static var firstDeathReason: StaticString { "x-first-death-reason" }
    /// The `message-id` of an AMQP 1.0 message, where it is binary. Texts, numbers and UUIDs become the property
    /// `message_id`.
    package static var binaryMessageID: StaticString { "x-message-id" }
    /// How often a quorum queue took the message back:
    /// <https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling>.
    package static var deliveryCount: StaticString { "x-delivery-count" }
    /// How often a quorum queue of RabbitMQ 4 handed the message out.
    package static var acquiredCount: StaticString { "x-acquired-count" }
}
