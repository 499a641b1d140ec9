import Text

/// Fills a job from its message, notes the first defect, and reads on, so that a result can say as much as possible.
struct JobReader {
    /// The job as far as it was read.
    var job: Job
    /// The first thing that was found wrong.
    private(set) var defect: Defect?
    /// The headers of the message.
    let headers: JobHeaders
    /// The fields of an enveloped job; empty for a raw one.
    var envelope = Envelope()
    /// Which of the two forms the job has; nil when the content type does not say.
    var form: Form?

    private let contentType: Range<Int>?
    private let contentEncoding: Range<Int>?
    private let messageID: Range<Int>?
    private let timestamp: UInt64?

    /// The two forms of a job.
    enum Form {
        /// The payload alone with headers beside it, or all of it as one JSON object.
        case raw, enveloped

        /// The form a content type stands for, nil for another type.
        init?(_ contentType: Span<UInt8>) {
            if contentType.isMediaType(MessageName.rawContentType) {
                self = .raw
            } else if contentType.isMediaType(MessageName.jsonContentType) {
                self = .enveloped
            } else {
                return nil
            }
        }
    }

    /// A reader that has taken over the message's buffer.
    init(_ message: consuming JobMessage) {
        var message = message
        let bytes = message.bytes
        // Leaves the job as the buffer's only owner, so that texts can be appended without copying it.
        message.bytes = []
        job = Job(
            bytes: bytes, body: message.body, routingKey: message.routingKey, redelivered: message.redelivered)
        job.correlationID = message.correlationID
        job.replyTo = message.replyTo
        headers = message.headers
        contentType = message.contentType
        contentEncoding = message.contentEncoding
        messageID = message.messageID
        timestamp = message.timestamp
    }

    /// Notes a defect unless one was noted before.
    mutating func fail(_ reason: Reason, _ detail: String) {
        if defect == nil { defect = Defect(reason: reason, detail: detail) }
    }

    /// Reads everything.
    mutating func read(now: Int64, random: () -> UInt64) {
        readForm()
        if form == .enveloped { readEnvelope() }
        readID(now: now, random: random)
        readHistory()
        readConditions()
        readRouting()
        if !hasBroadcastChannelFields || readBroadcastChannelJob() {
            readTokens()
            readPush()
            readPayload()
        }
        if let notBefore = job.notBefore { checkNotBefore(notBefore, now: now) }
        if headers.hasDuplicates {
            fail(.duplicateHeaders, "one of the headers apns-… or x-apns-… is given twice")
        }
    }

    /// Tells the two forms apart by the content type, whose parameters and case do not matter.
    private mutating func readForm() {
        if let contentEncoding, !isIdentity(contentEncoding) {
            fail(.badEncoding, "a content_encoding other than identity is not supported; send the body as it is")
        }
        guard let contentType else {
            return fail(
                .badContentType,
                "the property content_type is missing; it must be \(MessageName.rawContentType) or "
                    + "\(MessageName.jsonContentType)")
        }
        form = Form(job.bytes.span.extracting(contentType))
        if form == nil {
            fail(
                .badContentType,
                "the property content_type must be \(MessageName.rawContentType) or \(MessageName.jsonContentType)")
        }
    }

    private func isIdentity(_ range: Range<Int>) -> Bool {
        let value = job.bytes.span.extracting(range)
        // Some client libraries state a character set here.
        return value.count == 0 || value.isMediaType("identity") || value.isMediaType("utf-8")
            || value.isMediaType("binary")
    }

    /// The job's id: the property, else the body's, else a new one.
    private mutating func readID(now: Int64, random: () -> UInt64) {
        let given = messageID.flatMap { $0.isEmpty ? nil : $0 }
        let written = string(envelope.id, .id)
        if let written, written.isEmpty || written.count > Job.maximumIDLength {
            fail(.badJobID, "\(JobField.id) must have 1 to \(Job.maximumIDLength) bytes")
        }
        if let given {
            job.jobID = given
            if let written, !sameBytes(given, written) {
                fail(.jobIDMismatch, "the property message_id and the body's id differ; give one, or the same twice")
            }
            if !job.bytes.span.extracting(given).isUTF8() {
                fail(.badJobID, "the property message_id is not valid UTF-8")
            }
        } else if let written, !written.isEmpty, written.count <= Job.maximumIDLength {
            job.jobID = written
        } else {
            let start = job.bytes.count
            UUIDBytes.v7(milliseconds: now, random: (random(), random())).append(to: &job.bytes)
            job.jobID = start..<job.bytes.count
            job.generatedID = true
        }
    }

    /// What happened to the job before: its age, and what a retry copy carries.
    private mutating func readHistory() {
        readEnqueuedAt(timestamp)
        if let value = headers.replay { job.replay = headerText(value, HeaderName.replay, .badHeaders) }
        // Producers have no business with these, so they count only beside the version a worker writes.
        guard let version = headers.version, let number = number(version), number >= 1 else { return }
        if let value = headers.attempt {
            if let attempt = self.number(value), attempt >= 1, attempt <= 1_000_000 {
                job.attempt = Int(attempt)
            } else {
                fail(.badHeaders, "the header \(HeaderName.attempt) must be a number from 1")
            }
        }
        if let value = headers.firstAttemptAt {
            job.firstAttemptAt = time(value, HeaderName.firstAttemptAt, .badHeaders)?.milliseconds
        }
        // The copy was published twice. The broker does not mark the second as redelivered, so the header says it.
        if case .text(let word)? = headers.duplicate, job.bytes.span.extracting(word).matches(MessageName.possible) {
            job.redelivered = true
        }
    }

    /// Deadline, `not_before`, `on_unknown`, reference and trace context: headers first, then the body.
    private mutating func readConditions() {
        readDeadline()
        readNotBefore()
        readResults()
        let wish =
            headers.onUnknown.flatMap { headerText($0, HeaderName.onUnknown, .badOnUnknown) }
            ?? string(envelope.onUnknown, .onUnknown)
        if let wish {
            if let onUnknown = OnUnknown(utf8: job.bytes.span.extracting(wish)) {
                job.onUnknown = onUnknown
            } else {
                fail(.badOnUnknown, "\(JobField.onUnknown) must be retry or report")
            }
        }
        job.reference =
            headers.reference.flatMap { headerText($0, HeaderName.reference, .badReference) }
            ?? string(envelope.reference, .reference)
        if let reference = job.reference, reference.count > Job.maximumReferenceLength {
            job.reference = nil
            fail(.badReference, "the reference has more than \(Job.maximumReferenceLength) bytes")
        }
        // A broken trace context starts a new trace; it must not cost a notification (W3C Trace Context 2.2).
        if case .text(let range) = headers.traceparent, job.bytes.span.extracting(range).isTraceparent() {
            job.traceparent = range
        }
    }
}

// MARK: - Texts and numbers
extension JobReader {
    /// A whole number in a header: an integer, or its decimal digits.
    func number(_ value: HeaderValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .text(let range), .bytes(let range): job.bytes.span.extracting(range).wholeNumber()
        case .timestamp, .other: nil
        }
    }

    /// Text in a header, a number as its digits; fails with a reason on other kinds and on bytes that are not UTF-8.
    mutating func headerText(_ value: HeaderValue, _ name: StaticString, _ reason: Reason) -> Range<Int>? {
        switch value {
        case .text(let range), .bytes(let range):
            if job.bytes.span.extracting(range).isUTF8() { return range }
            fail(.badEncoding, "the header \(name) is not valid UTF-8")
        case .integer(let number):
            let start = job.bytes.count
            job.bytes.append(decimal: number)
            return start..<job.bytes.count
        case .timestamp, .other:
            fail(reason, "the header \(name) must be text")
        }
        return nil
    }

    /// The text of a string field, its escapes undone; nil when absent or null, a defect when of another type.
    mutating func string(_ value: JSONValue?, _ field: JobField) -> Range<Int>? {
        guard let value else { return nil }
        guard value.kind == .string else {
            fail(.badType, "\(field) must be a string")
            return nil
        }
        guard value.flag else { return value.range }
        if let text = JSONText.unescape(value.range, in: &job.bytes) { return text }
        fail(.badEncoding, "\(field) contains half of a surrogate pair")
        return nil
    }

    /// A whole-number field; nil when absent or null, a defect when of another type.
    mutating func integer(_ value: JSONValue?, _ field: JobField) -> Int64? {
        guard let value else { return nil }
        if value.kind == .number, !value.flag, let number = job.bytes.span.extracting(value.range).wholeNumber() {
            return number
        }
        fail(.badType, "\(field) must be a whole number")
        return nil
    }

    /// Whether two parts of the buffer are the same text.
    func sameBytes(_ one: Range<Int>, _ two: Range<Int>) -> Bool {
        job.bytes.span.extracting(one).matches(job.bytes.span.extracting(two))
    }
}

extension Span where Element == UInt8 {
    /// Whether this is a media type, whatever its parameters and its case.
    fileprivate func isMediaType(_ type: StaticString) -> Bool {
        let length = type.utf8CodeUnitCount
        guard count >= length else { return false }
        if count == length, matches(type) { return true }
        for index in 0..<length where self[index] | 0x20 != type.utf8Start[index] | 0x20 { return false }
        return count == length || self[length] == UInt8(ascii: ";") || self[length] == UInt8(ascii: " ")
    }

    /// Whether this is a trace context of the form `00-<32 hex>-<16 hex>-<2 hex>`:
    /// <https://www.w3.org/TR/trace-context/#traceparent-header>.
    fileprivate func isTraceparent() -> Bool {
        guard count == 55 else { return false }
        for index in 0..<count {
            if index == 2 || index == 35 || index == 52 {
                guard self[index] == UInt8(ascii: "-") else { return false }
            } else if HexText.value(of: self[index]) == nil {
                return false
            }
        }
        return true
    }
}
