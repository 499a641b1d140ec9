import Text

extension JobReader {
    /// Environment, topic and class, from the job and from its routing key, which must not contradict each other.
    mutating func readRouting() {
        let key = JobRoutingKey(job.routingKey, in: job.bytes.span)
        job.jobClass = key?.jobClass ?? .normal

        if let range = string(envelope.environment, .environment) {
            job.environment = APNSEnvironment(utf8: job.bytes.span.extracting(range))
            if job.environment == nil {
                fail(.badEnvironment, "\(JobField.environment) must be production or development")
            }
        }
        let written =
            form == .raw
            ? headers.topic.flatMap { headerText($0, HeaderName.topic, .badTopic) } : string(envelope.topic, .topic)
        if let written {
            if Topic.isLegal(job.bytes.span.extracting(written)) {
                job.topic = written
            } else {
                fail(.badTopic, "the topic must be 1 to \(Topic.maximumLength) of the characters A-Z a-z 0-9 . -")
            }
        }
        guard let key else {
            if job.topic.isEmpty {
                fail(.missingTopic, "the job names no topic, and its routing key is not <environment>.<class>.<topic>")
            }
            if job.environment == nil {
                fail(
                    .missingEnvironment,
                    "the job names no environment, and its routing key is not <environment>.<class>.<topic>")
                // Not good enough to push by, but the result's key can name it.
                job.environment = APNSEnvironment(firstWordOf: job.bytes.span.extracting(job.routingKey))
            }
            return
        }
        if let environment = job.environment, environment != key.environment {
            fail(.routingMismatch, "the job says \(environment.rawValue), its routing key \(key.environment.rawValue)")
        }
        if !job.topic.isEmpty {
            if !sameBytes(job.topic, key.topic) {
                fail(.routingMismatch, "the job's topic is \(text(job.topic)), its routing key's \(text(key.topic))")
            }
        } else {
            job.topic = key.topic
        }
        if job.environment == nil { job.environment = key.environment }
    }

    /// A legal topic as a string, for a detail.
    private func text(_ range: Range<Int>) -> String { String(decoding: job.bytes[range], as: UTF8.self) }

    /// One token, or up to 1,000 of which bad ones fail alone.
    mutating func readTokens() {
        if form == .raw {
            guard let value = headers.deviceToken else {
                return fail(.missingDeviceToken, "the header \(HeaderName.deviceToken) is missing")
            }
            readSingleToken(rawToken(value))
        } else if let list = envelope.deviceTokens {
            if envelope.deviceToken != nil {
                fail(.ambiguousDeviceToken, "give either \(JobField.deviceToken) or \(JobField.deviceTokens), not both")
            }
            readTokenList(list)
        } else if let token = envelope.deviceToken {
            readSingleToken(string(token, .deviceToken))
        } else if form == .enveloped {
            fail(
                .missingDeviceToken,
                headers.hasRawFields
                    ? "\(JobField.deviceToken) is missing; headers apns-… count only with \(MessageName.rawContentType)"
                    : "the job has neither \(JobField.deviceToken) nor \(JobField.deviceTokens)")
        }
    }

    /// A token in a header, as hexadecimal text.
    private mutating func rawToken(_ value: HeaderValue) -> Range<Int>? {
        switch value {
        case .text(let range): return range
        case .bytes(let range):
            let start = job.bytes.count
            // Beyond the longest token there is nothing to gain from spelling it out.
            guard range.count <= Job.maximumTokenLength else { return range }
            job.bytes.reserveCapacity(start + range.count * 2)
            for index in range { HexText.append(job.bytes[index], to: &job.bytes) }
            return start..<job.bytes.count
        case .integer, .timestamp, .other:
            fail(.badDeviceToken, "the header \(HeaderName.deviceToken) must be hexadecimal text, or bytes")
            return nil
        }
    }

    private mutating func readSingleToken(_ range: Range<Int>?) {
        guard let range else { return }
        let flaw = TokenFlaw(job.bytes.span.extracting(range))
        job.singleFlaw = flaw
        if let defect = flaw.defect {
            fail(defect.reason, defect.detail)
        } else {
            job.singleToken = range
        }
    }

    private mutating func readTokenList(_ list: JSONValue) {
        job.isMulticast = true
        guard list.kind == .array else { return fail(.badType, "\(JobField.deviceTokens) must be an array of strings") }
        do throws(JSONError) {
            try scanTokens(list.range)
        } catch {
            // The array was validated with the body, so this is unreachable; should it happen, it must not be silent.
            fail(.badJSON, "\(JobField.deviceTokens): " + error.detail)
        }
        if job.tokens.isEmpty, defect?.reason != .tooManyTokens {
            fail(.missingDeviceToken, "\(JobField.deviceTokens) is empty")
        }
        // They count beside any version and without one, so that a dead letter that somebody publishes again as it is
        // pushes what it is about.
        guard let value = headers.indexes else { return }
        if let range = headerText(value, HeaderName.indexes, .badHeaders) {
            if let indexes = IndexRanges.parse(job.bytes.span.extracting(range), limit: job.tokens.count) {
                job.indexes = indexes
            } else {
                fail(
                    .badHeaders,
                    "the header \(HeaderName.indexes) must list positions of \(JobField.deviceTokens), such as 0-4,7")
            }
        }
    }

    private mutating func scanTokens(_ range: Range<Int>) throws(JSONError) {
        var scanner = JSONScanner(range)
        guard try scanner.enterArray(in: job.bytes.span) else { return }
        // Room for tokens of the usual size, so that most lists grow once.
        job.tokens.reserveCapacity(min(Job.maximumTokens, range.count / 67 + 1))
        while try scanner.hasElement(in: job.bytes.span) {
            guard job.tokens.count < Job.maximumTokens else {
                // Some of them would be as misleading as half a list of results.
                job.tokens = []
                return fail(
                    .tooManyTokens,
                    "\(JobField.deviceTokens) has more than \(Job.maximumTokens) entries; split the job")
            }
            let value = try scanner.value(in: job.bytes.span)
            job.tokens.append(tokenSlice(value))
        }
    }

    private mutating func tokenSlice(_ value: JSONValue) -> TokenSlice {
        guard value.kind == .string else { return TokenSlice(start: 0, length: 0, flaw: .notText) }
        var text = value.range
        if value.flag {
            guard let unescaped = JSONText.unescape(text, in: &job.bytes) else {
                return TokenSlice(start: 0, length: 0, flaw: .notHexadecimal)
            }
            text = unescaped
        }
        let flaw = TokenFlaw(job.bytes.span.extracting(text))
        return TokenSlice(
            start: UInt32(truncatingIfNeeded: text.lowerBound), length: UInt16(clamping: text.count), flaw: flaw)
    }
}

extension JobReader {
    /// What goes into the request's headers.
    mutating func readPush() {
        let isRaw = form == .raw
        readPushType(
            isRaw
                ? headers.pushType.flatMap { headerText($0, HeaderName.pushType, .invalidPushType) }
                : string(envelope.pushType, .pushType))

        switch writtenPriority() {
        case nil: job.priority = job.pushType == .background ? 5 : 10
        case 10:
            if job.pushType == .background { fail(.badPriority, "a background push must have priority 5 or 1, not 10") }
        case 5: job.priority = 5
        case 1: job.priority = 1
        default: fail(.badPriority, "the priority must be 10, 5 or 1")
        }

        readExpiration()

        job.collapseID =
            isRaw
            ? headers.collapseID.flatMap { headerText($0, HeaderName.collapseID, .badCollapseID) }
            : string(envelope.collapseID, .collapseID)
        if let collapseID = job.collapseID, !checkCollapseID(job.bytes.span.extracting(collapseID)) {
            job.collapseID = nil
            fail(
                .badCollapseID,
                "the collapse id must have 1 to \(Job.maximumCollapseIDLength) bytes, without control characters "
                    + "and without spaces at its ends")
        }
        readAPNSID(
            isRaw
                ? headers.apnsID.flatMap { headerText($0, HeaderName.apnsID, .badMessageID) }
                : string(envelope.apnsID, .apnsID))
        if isRaw { job.unknownFields = headers.unknownCount }
        if !job.pushType.isKnown { job.unknownFields += 1 }
    }

    /// The push type given, or the default: by the topic's suffix; else, for an enveloped job, `background` when
    /// `aps` holds only `content-available`; else `alert`.
    private mutating func readPushType(_ given: Range<Int>?) {
        if let given {
            guard PushType.isLegal(job.bytes.span.extracting(given)) else {
                return fail(.invalidPushType, "the push type must be 1 to 64 letters, digits, dots, dashes")
            }
            job.pushType = PushType(given, in: job.bytes.span)
        } else if let type = Topic.pushType(of: job.bytes.span.extracting(job.topic)) {
            job.pushType = type
        } else if let payload = envelope.payload, payload.kind == .object, payloadIsBackground(payload.range) {
            job.pushType = .background
        }
    }

    /// The id that the request carries on every attempt: the one given, else the job's where it is a UUID.
    mutating func readAPNSID(_ given: Range<Int>?) {
        if let given {
            job.fixedAPNSID = UUIDBytes.parse(job.bytes.span.extracting(given))
            if job.fixedAPNSID == nil { fail(.badMessageID, "the apns-id must be a UUID, written 8-4-4-4-12") }
            if job.isMulticast {
                fail(
                    .badMessageID,
                    "\(JobField.apnsID) cannot be given with \(JobField.deviceTokens): each notification needs its own")
            }
        } else if job.targetCount == 1 {
            job.fixedAPNSID = UUIDBytes.parse(job.bytes.span.extracting(job.jobID))
        }
    }

    /// What an HTTP/2 field value may hold (RFC 9113 section 8.2.1), and APNs' own limit.
    private func checkCollapseID(_ value: Span<UInt8>) -> Bool {
        guard value.count >= 1, value.count <= Job.maximumCollapseIDLength, value[0] != 0x20,
            value[value.count - 1] != 0x20
        else { return false }
        for index in 0..<value.count where value[index] < 0x20 || value[index] == 0x7F { return false }
        return true
    }

    /// A number in a header; nil when absent, a defect when it is not a number.
    mutating func headerNumber(_ value: HeaderValue?, _ reason: Reason, _ name: StaticString) -> Int64? {
        guard let value else { return nil }
        let number = number(value)
        if number == nil { fail(reason, "the header \(name) must be a whole number") }
        return number
    }

    /// The payload's bytes: a raw job's body, or the envelope's object as it was written.
    mutating func readPayload() {
        switch form {
        case .raw:
            job.payload = job.body
            if job.body.isEmpty { fail(.payloadEmpty, "the body, which is the payload, is empty") }
        case .enveloped:
            guard let payload = envelope.payload else { return fail(.payloadEmpty, "the job has no payload") }
            guard payload.kind == .object else { return fail(.badType, "\(JobField.payload) must be an object") }
            job.payload = payload.range
        case nil:
            return
        }
        let limit = job.pushType.payloadLimit
        if job.payload.count > limit {
            fail(.payloadTooLarge, "the payload has \(job.payload.count) bytes; \(limit) are allowed")
        }
    }

    /// The priority as it is written; nil without one.
    mutating func writtenPriority() -> Int64? {
        form == .raw
            ? headerNumber(headers.priority, .badPriority, HeaderName.priority)
            : integer(envelope.priority, .priority)
    }
}
