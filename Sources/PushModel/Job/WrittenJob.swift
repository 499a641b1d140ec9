/// A job as its producer wrote it: what it says in headers and in the fields of its body, and the first thing that is
/// wrong with it.
///
/// Reading goes on after a defect, so that a result can say as much as possible. This owns the message's buffer, into
/// which all ranges point. Texts that do not stand there as they are meant, such as those with escapes, are appended.
struct WrittenJob {
    /// The message's buffer, which only grows.
    var bytes: [UInt8]
    /// The headers of the message.
    let headers: JobHeaders
    /// The fields of an enveloped job; empty for a raw one.
    private(set) var envelope = Envelope()
    /// Which of the two forms the job has; nil when the content type does not say.
    private(set) var form: JobForm?
    /// The first thing that was found wrong.
    private(set) var defect: Defect?

    /// Takes over a message's buffer, tells the form of the job, and finds the fields of an enveloped one.
    init(_ message: consuming JobMessage) {
        var message = message
        bytes = message.bytes
        // Leaves this as the buffer's only owner, so that texts can be appended without copying it.
        message.bytes = []
        headers = message.headers
        readForm(message.contentType, message.contentEncoding)
        if form == .enveloped { readEnvelope(message.body) }
    }

    /// Notes a defect unless one was noted before.
    mutating func fail(_ reason: Reason, _ detail: String) {
        if defect == nil { defect = Defect(reason: reason, detail: detail) }
    }

    /// Tells the two forms apart by the content type, whose parameters and case do not matter.
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

    /// Finds the fields of the body, keeping those before a mistake.
    private mutating func readEnvelope(_ body: Range<Int>) {
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
    /// Whether it names a device token, or a list of them.
    var namesDevices: Bool {
        form == .raw ? headers.deviceToken != nil : envelope.deviceToken != nil || envelope.deviceTokens != nil
    }

    /// Whether it names an operation or a broadcast channel; nearly none does.
    var namesBroadcastChannel: Bool {
        headers.operation != nil || headers.channelID != nil || envelope.operation != nil
            || envelope.channelID != nil || envelope.storagePolicy != nil
    }

    /// Whether it names a collapse identifier.
    var namesCollapseID: Bool { form == .raw ? headers.collapseID != nil : envelope.collapseID != nil }

    /// How many of its fields, or of its headers `apns-…`, mean nothing to this version.
    var unknownCount: Int { form == .raw ? headers.unknownCount : envelope.unknownCount }

    /// Whether two parts of the buffer are the same text.
    func sameBytes(_ one: Range<Int>, _ two: Range<Int>) -> Bool {
        bytes.span.extracting(one).matches(bytes.span.extracting(two))
    }
}
