package import RabbitMQ

/// Writes down what a connection reports.
package final class SessionRecorder: AMQPSessionDelegate {
    /// What it reported, in order.
    package var events: [SessionEvent] = []
    /// The newest delivery.
    package var lastDelivery: Delivery?
    /// Called for each event, for what a delegate may do from inside.
    package var onEvent: ((SessionEvent) -> Void)?

    /// Makes a recorder of nothing.
    package init() {}

    private func note(_ event: SessionEvent) {
        events.append(event)
        onEvent?(event)
    }
    private func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    package func channelOpened(_ channel: UInt16) { note(.channelOpened(channel)) }
    package func qosSet(_ channel: UInt16) { note(.qosSet(channel)) }
    package func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {
        note(.consumeStarted(channel, String(decoding: consumerTag, as: UTF8.self)))
    }
    package func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        note(.consumeCancelled(channel, String(decoding: consumerTag, as: UTF8.self), byBroker: byBroker))
    }
    package func confirmsSelected(_ channel: UInt16) { note(.confirmsSelected(channel)) }
    package func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        note(.channelClosed(channel, code: code, text: text))
    }
    package func connectionClosed(code: UInt16, text: String) { note(.connectionClosed(code: code, text: text)) }
    package func connectionBlocked(reason: String) { note(.blocked(reason)) }
    package func connectionUnblocked() { note(.unblocked) }
    package func delivered(_ delivery: consuming Delivery) {
        let message = delivery
        lastDelivery = message
        func text(_ range: Range<Int>) -> String { String(decoding: message.bytes[range], as: UTF8.self) }
        note(
            .delivered(
                message.channel, tag: message.deliveryTag, redelivered: message.redelivered,
                exchange: text(message.exchange), key: text(message.routingKey),
                properties: Array(message.bytes[message.properties]), body: text(message.body), size: message.bodySize,
                isTruncated: message.isTruncated))
    }
    package func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {
        note(
            .returned(channel, code: code, id: text(messageID), exchange: text(exchange), key: text(routingKey)))
    }
    package func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {
        note(.confirmed(channel, tag: tag, multiple: multiple, positive: positive))
    }
}
