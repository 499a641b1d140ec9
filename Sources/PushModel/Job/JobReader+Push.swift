import Text

// Jobs that go to devices.
extension JobReader {
    /// Reads the device tokens and the parts of their requests.
    mutating func readPushJob() {
        job.tokens = DeviceTokens(reading: &written)
        // The indexes count with and without a version header. So a dead letter that is published again as it is pushes
        // only the notifications that it is about.
        if job.isMulticast, let value = written.headers.indexes { readIndexes(value) }
        readPushHeaders()
        readPayload()
    }

    private mutating func readIndexes(_ value: HeaderValue) {
        guard let range = written.text(value, HeaderName.indexes, .badHeaders) else { return }
        if let indexes = IndexRanges.parse(written.bytes.span.extracting(range), limit: job.tokens.count) {
            job.indexes = indexes
        } else {
            written.fail(
                .badHeaders,
                "the header \(HeaderName.indexes) must list positions of \(JobField.deviceTokens), such as 0-4,7")
        }
    }

    /// Reads the values of the request's headers.
    private mutating func readPushHeaders() {
        readPushType()
        switch written.readPriority() {
        case nil: job.priority = job.pushType == .background ? 5 : 10
        case 10:
            if job.pushType == .background {
                written.fail(.badPriority, "a background push must have priority 5 or 1, not 10")
            }
        case 5: job.priority = 5
        case 1: job.priority = 1
        default: written.fail(.badPriority, "the priority must be 10, 5 or 1")
        }
        job.expiration = written.readExpiration()
        if let collapseID = written.readCollapseID() {
            if CollapseID.isLegal(written.bytes.span.extracting(collapseID)) {
                job.collapseID = collapseID
            } else {
                written.fail(
                    .badCollapseID,
                    "the collapse id must have 1 to \(Job.maximumCollapseIDLength) bytes, without control characters "
                        + "and without spaces at its ends")
            }
        }
        readAPNSID()
        if !job.pushType.isKnown { job.unknownFields += 1 }
    }

    /// Reads the given push type, or takes the default:
    ///
    /// - the push type of the topic's suffix;
    /// - else `background`, for an enveloped job whose `aps` holds only `content-available`;
    /// - else `alert`.
    private mutating func readPushType() {
        if let given = written.readPushType() {
            guard PushType.isLegal(written.bytes.span.extracting(given)) else {
                return written.fail(.invalidPushType, "the push type must be 1 to 64 letters, digits, dots, dashes")
            }
            job.pushType = PushType(given, in: written.bytes.span)
        } else if let type = Topic.pushType(of: written.bytes.span.extracting(job.topic)) {
            job.pushType = type
        } else if let payload = written.envelope.payload, payload.kind == .object,
            Payload.isBackground(payload.range, in: written.bytes.span)
        {
            job.pushType = .background
        }
    }

    /// Reads the id that the request has on every attempt: the given one; else the job's id, if the job is one request
    /// and its id is a UUID.
    mutating func readAPNSID() {
        if let given = written.readAPNSID() {
            job.fixedAPNSID = UUIDBytes.parse(written.bytes.span.extracting(given))
            if job.fixedAPNSID == nil {
                written.fail(.badMessageID, "the \(HeaderName.apnsID) must be a UUID, written 8-4-4-4-12")
            }
            if job.isMulticast {
                written.fail(
                    .badMessageID,
                    "\(JobField.apnsID) cannot be given with \(JobField.deviceTokens): each notification needs its own")
            }
        } else if job.targetCount == 1 {
            job.fixedAPNSID = UUIDBytes.parse(written.bytes.span.extracting(job.jobID))
        }
    }

    /// Finds the payload's bytes: a raw job's body, or the envelope's object as it was written.
    private mutating func readPayload() {
        switch written.form {
        case .raw:
            job.payload = written.body
            if job.payload.isEmpty { written.fail(.payloadEmpty, "the body, which is the payload, is empty") }
        case .enveloped:
            guard let payload = written.envelope.payload else {
                return written.fail(.payloadEmpty, "the job has no payload")
            }
            guard payload.kind == .object else {
                return written.fail(.badType, "\(JobField.payload) must be an object")
            }
            job.payload = payload.range
        case nil:
            return
        }
        let limit = job.pushType.payloadLimit
        if job.payload.count > limit {
            written.fail(.payloadTooLarge, "the payload has \(job.payload.count) bytes; \(limit) are allowed")
        }
    }
}
