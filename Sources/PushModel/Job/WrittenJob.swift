/// A job as its producer wrote it: its headers, the fields of its body, and its first defect.
///
/// Reading goes on after a defect, so that a result can say as much as possible. The written job owns the message's
/// buffer, and all ranges point into the buffer. A text that does not stand there as it is meant is appended; for
/// example, the text of a string with escapes.
struct WrittenJob {
    /// The message's buffer, which only grows.
    var bytes: [UInt8]
    /// The headers of the message.
    let headers: JobHeaders
    /// How the message came.
    let way: DeliveryWay
    /// Where the body stands, without a byte order mark before it.
    private(set) var body: Range<Int>
    /// The fields of an enveloped job; empty for a raw one.
    private(set) var envelope = Envelope()
    /// Which of the two forms the job has; nil if the content type names neither.
    private(set) var form: JobForm?
    /// The first thing that was found wrong.
    private(set) var defect: Defect?

    /// Takes over a message's buffer, finds out the form of the job, and finds the fields of an enveloped job.
    init(_ message: consuming JobMessage) {
        var message = message
        bytes = message.bytes
        // The written job becomes the buffer's only owner. So texts can be appended without copying the buffer.
        message.bytes = []
        headers = message.headers
        way = message.way
        body = message.body
        readForm(message.contentType, message.contentEncoding)
        readBeginning()
        if form == .enveloped { readEnvelope() }
    }

    /// Whether a body is an AMQP 1.0 section `amqp-value` or `amqp-sequence`. RabbitMQ 4 delivers these over AMQP 0-9-1 as
    /// they are coded, and only data sections as their bytes. No JSON begins so.
    /// [Messaging format](https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-messaging-v1.0-os.html#section-message-format)
    private static func isAMQP1Section(_ body: Span<UInt8>) -> Bool {
        body.count > 2 && body[0] == 0 && body[1] == 0x53 && (body[2] == 0x76 || body[2] == 0x77)
    }

    /// Notes a defect unless one was noted before.
    mutating func fail(_ reason: Reason, _ detail: String) {
        if defect == nil { defect = Defect(reason: reason, detail: detail) }
    }

    /// Tells the two forms apart by the content type. Its parameters and its case do not matter.
    private mutating func readForm(_ contentType: Range<Int>?, _ contentEncoding: Range<Int>?) {
        if let contentEncoding, !JobForm.isIdentity(bytes.span.extracting(contentEncoding)) {
            fail(.badEncoding, "a content_encoding other than identity is not supported; send the body as it is")
        }
        guard let contentType else {
            return fail(
                .badContentType,
                "the property content_type is missing; it must be \(MessageName.rawContentType) or "
                    + "\(MessageName.jsonContentType)")
        }
        form = JobForm(bytes.span.extracting(contentType))
        if form == nil {
            fail(
                .badContentType,
                "the property content_type must be \(MessageName.rawContentType) or \(MessageName.jsonContentType)")
        }
    }

    /// Drops a byte order mark. Refuses a body that is compressed or UTF-16.
    private mutating func readBeginning() {
        if Self.isAMQP1Section(bytes.span.extracting(body)) {
            return fail(
                .badJSON,
                "the body is an AMQP 1.0 value or sequence, which RabbitMQ passes on in AMQP's own coding: send the "
                    + "JSON as a data section (a binary body)")
        }
        switch BodyBeginning(bytes.span.extracting(body)) {
        case .text(let mark): body = (body.lowerBound + mark)..<body.upperBound
        case .compressed(let method):
            fail(.badEncoding, "the body is compressed (\(method)); send it as it is, without compression")
        case .utf16: fail(.badEncoding, "the body is written in UTF-16; send it in UTF-8")
        }
    }

    /// Finds the fields of the body. Fields before a mistake are kept.
    private mutating func readEnvelope() {
        do throws(JSONError) {
            if try !envelope.read(body, in: bytes) { fail(.badJSON, "the body must be a JSON object") }
        } catch {
            fail(error.kind == .invalidUTF8 ? .badEncoding : .badJSON, "the body: " + error.detail)
        }
        if envelope.hasDuplicates { fail(.badJSON, "the body gives one of its fields twice") }
    }
}

// MARK: - What the whole job says
extension WrittenJob {
    /// Whether the job names a device token, or a list of them.
    var namesDevices: Bool {
        form == .raw ? headers.deviceToken != nil : envelope.deviceToken != nil || envelope.deviceTokens != nil
    }

    /// Whether the job names an operation, a broadcast channel or a storage policy. Nearly no job does.
    var namesBroadcastChannel: Bool {
        headers.operation != nil || headers.channelID != nil || envelope.operation != nil
            || envelope.channelID != nil || envelope.storagePolicy != nil
    }

    /// Whether the job names a collapse identifier.
    var namesCollapseID: Bool { form == .raw ? headers.collapseID != nil : envelope.collapseID != nil }

    /// How many of the job's fields, or of its headers `apns-…`, this version does not know.
    var unknownCount: Int { form == .raw ? headers.unknownCount : envelope.unknownCount }

    /// Whether two parts of the buffer are the same text.
    func sameBytes(_ one: Range<Int>, _ two: Range<Int>) -> Bool {
        bytes.span.extracting(one).matches(bytes.span.extracting(two))
    }
}
