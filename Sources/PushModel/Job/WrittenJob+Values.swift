// Where each value stands: in a field of the body, in a header, or in either. A value that stands nowhere is nil. A
// value of the wrong kind is a defect.

// MARK: - In a field alone
extension WrittenJob {
    /// The job's id in the body.
    mutating func readID() -> Range<Int>? { text(envelope.id, .id) }

    /// The environment's name.
    mutating func readEnvironment() -> Range<Int>? { text(envelope.environment, .environment) }
}

// MARK: - By the form: a header of a raw job, or a field of an enveloped one
extension WrittenJob {
    /// The topic.
    mutating func readTopic() -> Range<Int>? {
        text(ofRaw: headers.topic, HeaderName.topic, ofEnveloped: envelope.topic, .topic, .badTopic)
    }

    /// The push type.
    mutating func readPushType() -> Range<Int>? {
        text(
            ofRaw: headers.pushType, HeaderName.pushType, ofEnveloped: envelope.pushType, .pushType, .invalidPushType)
    }

    /// The collapse identifier.
    mutating func readCollapseID() -> Range<Int>? {
        text(
            ofRaw: headers.collapseID, HeaderName.collapseID, ofEnveloped: envelope.collapseID, .collapseID,
            .badCollapseID)
    }

    /// The id of the request.
    mutating func readAPNSID() -> Range<Int>? {
        text(ofRaw: headers.apnsID, HeaderName.apnsID, ofEnveloped: envelope.apnsID, .apnsID, .badMessageID)
    }

    /// The broadcast channel's identifier.
    mutating func readChannelID() -> Range<Int>? {
        text(
            ofRaw: headers.channelID, HeaderName.channelID, ofEnveloped: envelope.channelID, .channelID, .badChannelID)
    }

    /// The priority.
    mutating func readPriority() -> Int64? {
        guard form == .raw else { return integer(envelope.priority, .priority) }
        guard let value = headers.priority else { return nil }
        if let number = number(value) { return number }
        fail(.badPriority, "the header \(HeaderName.priority) is \(value.kindName), and must be a whole number")
        return nil
    }

    /// Apple's expiration: seconds since 1970, or 0.
    mutating func readExpiration() -> Int64? {
        if form == .raw {
            guard let value = headers.expiration else { return nil }
            if number(value) == 0 { return 0 }
            return time(value, HeaderName.expiration, .badExpirationDate).map { $0.milliseconds / 1_000 }
        }
        guard let value = envelope.expiration else { return nil }
        if bytes.span.extracting(value.range).wholeNumber() == 0 { return 0 }
        return time(value, .expiration, .badExpirationDate).map { $0.milliseconds / 1_000 }
    }

    @inline(__always)
    private mutating func text(
        ofRaw header: HeaderValue?, _ name: StaticString, ofEnveloped value: JSONValue?, _ field: JobField,
        _ reason: Reason
    ) -> Range<Int>? {
        guard form == .raw else { return text(value, field) }
        guard let header else { return nil }
        return text(header, name, reason)
    }
}

// MARK: - In both forms: a header, or else a field
extension WrittenJob {
    /// What to do if a request gets no answer.
    mutating func readOnUnknown() -> Range<Int>? {
        text(headers.onUnknown, HeaderName.onUnknown, or: envelope.onUnknown, .onUnknown, .badOnUnknown)
    }

    /// The producer's own words.
    mutating func readReference() -> Range<Int>? {
        text(headers.reference, HeaderName.reference, or: envelope.reference, .reference, .badReference)
    }

    /// The wish for messages with several results each.
    mutating func readResults() -> Range<Int>? {
        text(headers.results, HeaderName.results, or: envelope.results, .results, .badResults)
    }

    /// The operation's name.
    mutating func readOperation() -> Range<Int>? {
        text(headers.operation, HeaderName.operation, or: envelope.operation, .operation, .badOperation)
    }

    /// The moment after which the job is not sent, in milliseconds since 1970.
    mutating func readDeadline() -> Int64? {
        time(headers.deadline, HeaderName.deadline, or: envelope.deadline, .deadline, .badDeadline)
    }

    /// The moment before which the job is not sent, in milliseconds since 1970.
    mutating func readNotBefore() -> Int64? {
        time(headers.notBefore, HeaderName.notBefore, or: envelope.notBefore, .notBefore, .badNotBefore)
    }

    /// A text in a header. If the header is absent or of the wrong kind, the text in the field.
    @inline(__always)
    private mutating func text(
        _ header: HeaderValue?, _ name: StaticString, or value: JSONValue?, _ field: JobField, _ reason: Reason
    ) -> Range<Int>? {
        if let header, let text = text(header, name, reason) { return text }
        return text(value, field)
    }

    /// A time in a header. If the header is absent, the time in the field.
    @inline(__always)
    private mutating func time(
        _ header: HeaderValue?, _ name: StaticString, or value: JSONValue?, _ field: JobField, _ reason: Reason
    ) -> Int64? {
        guard let header else { return time(value, field, reason)?.milliseconds }
        return time(header, name, reason)?.milliseconds
    }
}
