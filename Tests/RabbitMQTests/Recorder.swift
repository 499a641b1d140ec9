import TestSupport

@testable import RabbitMQ

/// Writes down what a connection reports.
final class Recorder: AMQPSessionDelegate {
    var events: [Event] = []
    var lastDelivery: Delivery?
    /// Called for each event, for what a delegate may do from inside.
    var onEvent: ((Event) -> Void)?

    private func note(_ event: Event) {
        events.append(event)
        onEvent?(event)
    }
    private func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    func channelOpened(_ channel: UInt16) { note(.channelOpened(channel)) }
    func qosSet(_ channel: UInt16) { note(.qosSet(channel)) }
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {
        note(.consumeStarted(channel, String(decoding: consumerTag, as: UTF8.self)))
    }
    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        note(.consumeCancelled(channel, String(decoding: consumerTag, as: UTF8.self), byBroker: byBroker))
    }
    func confirmsSelected(_ channel: UInt16) { note(.confirmsSelected(channel)) }
    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        note(.channelClosed(channel, code: code, text: text))
    }
    func connectionClosed(code: UInt16, text: String) { note(.connectionClosed(code: code, text: text)) }
    func connectionBlocked(reason: String) { note(.blocked(reason)) }
    func connectionUnblocked() { note(.unblocked) }
    func delivered(_ delivery: consuming Delivery) {
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
    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {
        note(
            .returned(channel, code: code, id: text(messageID), exchange: text(exchange), key: text(routingKey)))
    }
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {
        note(.confirmed(channel, tag: tag, multiple: multiple, positive: positive))
    }
}
