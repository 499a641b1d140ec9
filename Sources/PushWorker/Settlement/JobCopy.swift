import PushModel
package import RabbitMQ

/// Decides which properties and headers a copy of a job keeps. Copies are retry copies and dead letters of workers, and
/// jobs that are made of dead letters.
///
/// A copy leaves out:
///
/// - properties and headers that the broker would act on (`user_id`, `expiration`, `CC`, `BCC`);
/// - headers that the broker wrote;
/// - headers that say what became of the job.
package enum JobCopy {
    /// Copies the properties, except for the message id and the headers.
    ///
    /// - Parameters:
    ///   - properties: Says where they are in the buffer.
    ///   - bytes: The buffer with the job.
    ///   - message: The copy.
    package static func copy(
        _ properties: MessagePropertyReader, of bytes: borrowing [UInt8], to message: inout OutgoingMessage
    ) {
        let span = bytes.span
        if let range = properties.contentType { message.setContentType(span.extracting(range)) }
        if let range = properties.contentEncoding { message.setContentEncoding(span.extracting(range)) }
        if let range = properties.correlationID { message.setCorrelationID(span.extracting(range)) }
        // RabbitMQ closes the channel that publishes this address, unless it consumes from it. A message of AMQP 1.0 may
        // bring it.
        if let range = properties.replyTo, !span.extracting(range).isText("amq.rabbitmq.reply-to") {
            message.setReplyTo(span.extracting(range))
        }
        if let range = properties.type { message.setType(span.extracting(range)) }
        if let range = properties.appID { message.setAppID(span.extracting(range)) }
        if let seconds = properties.timestamp { message.setTimestamp(seconds) }
        if let priority = properties.priority { message.setPriority(priority) }
    }

    /// Whether copies leave a header out or write it anew. Such a header is the broker's, or says what became of the
    /// job.
    package static func isRewritten(_ name: Span<UInt8>) -> Bool {
        name.hasPrefix(BrokerHeader.firstDeathPrefix) || name.hasPrefix(BrokerHeader.lastDeathPrefix)
            || rewritten.contains { name.isText($0) }
    }

    /// Whether retry copies leave a header out, or have one of limited length in its place.
    static func isWrittenAnew(_ name: Span<UInt8>) -> Bool {
        isRewritten(name) || name.isText(HeaderName.deadline) || name.isText(HeaderName.notBefore)
    }

    private static let rewritten: [StaticString] = [
        BrokerHeader.copies, BrokerHeader.hiddenCopies, BrokerHeader.death, BrokerHeader.deliveryCount,
        BrokerHeader.acquiredCount, HeaderName.version, HeaderName.attempt,
        HeaderName.firstAttemptAt, HeaderName.indexes, HeaderName.outcome, HeaderName.reason,
        HeaderName.status, HeaderName.duplicate, HeaderName.detail, HeaderName.originalRoutingKey, HeaderName.diedAt,
        HeaderName.worker, HeaderName.action, HeaderName.tokenInvalidSince,
    ]
}
