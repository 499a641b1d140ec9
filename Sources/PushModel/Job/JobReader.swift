import Text

/// Fills a job from its message by the rules of the contract. It goes on after a defect.
struct JobReader {
    /// The job as far as it was read. It gets its buffer at the end.
    var job: Job
    /// What the message says.
    var written: WrittenJob

    private let messageID: Range<Int>?
    private let timestamp: UInt64?

    /// A reader that has taken over the message's buffer.
    init(_ message: consuming JobMessage) {
        job = Job(body: message.body, routingKey: message.routingKey, redelivered: message.redelivered)
        job.correlationID = message.correlationID
        job.replyTo = message.replyTo
        messageID = message.messageID
        timestamp = message.timestamp
        written = WrittenJob(message)
    }

    /// The first thing that was found wrong.
    var defect: Defect? { written.defect }

    /// Reads everything.
    mutating func read(now: Int64, random: () -> UInt64) {
        job.unknownFields = written.unknownCount
        readID(now: now, random: random)
        readHistory()
        readConditions()
        readRouting()
        if job.operation == .push { readPushJob() } else { readBroadcastChannelJob() }
        if let notBefore = job.notBefore { checkNotBefore(notBefore, now: now) }
        if written.headers.hasDuplicates {
            written.fail(.duplicateHeaders, "one of the headers apns-… or x-apns-… is given twice")
        }
        swap(&job.bytes, &written.bytes)
    }

    /// The job's id: the property, else the body's, else a new one.
    private mutating func readID(now: Int64, random: () -> UInt64) {
        let given = messageID.flatMap { $0.isEmpty ? nil : $0 }
        let inBody = written.readID()
        if let inBody, inBody.isEmpty || inBody.count > Job.maximumIDLength {
            written.fail(.badJobID, "\(JobField.id) must have 1 to \(Job.maximumIDLength) bytes")
        }
        if given == nil, written.headers.hasBinaryMessageID {
            written.fail(
                .badJobID,
                "the message-id of AMQP 1.0 is binary, and a binary id gets lost: send it as a string or a UUID")
        }
        if let given {
            job.jobID = given
            if let inBody, !written.sameBytes(given, inBody) {
                written.fail(
                    .jobIDMismatch, "the property message_id and the body's id differ; give one, or the same twice")
            }
            if !written.bytes.span.extracting(given).isUTF8() {
                written.fail(.badJobID, "the property message_id is not valid UTF-8")
            }
        } else if let inBody, !inBody.isEmpty, inBody.count <= Job.maximumIDLength {
            job.jobID = inBody
        } else {
            let start = written.bytes.count
            UUIDBytes.v7(milliseconds: now, random: (random(), random())).append(to: &written.bytes)
            job.jobID = start..<written.bytes.count
            job.generatedID = true
        }
    }

    /// What happened to the job before: its age, and what a retry copy carries.
    private mutating func readHistory() {
        readEnqueuedAt()
        if let value = written.headers.replay { job.replay = written.text(value, HeaderName.replay, .badHeaders) }
        if written.way == .moved { readFirstKey() }
        // Anybody can write these headers. They are a worker's only in what comes back from a tier.
        guard written.way == .returned, let version = written.headers.version, let number = written.number(version),
            number >= 1
        else { return }
        if let value = written.headers.attempt {
            if let attempt = written.number(value), attempt >= 1, attempt <= 1_000_000 {
                job.attempt = Int(attempt)
            } else {
                written.fail(.badHeaders, "the header \(HeaderName.attempt) must be a number from 1")
            }
        }
        if let value = written.headers.firstAttemptAt {
            job.firstAttemptAt = written.time(value, HeaderName.firstAttemptAt, .badHeaders)?.milliseconds
        }
        // The broker may have this copy twice, or the job that it was made from was delivered again. The broker marks
        // no new message as redelivered, so the header says it.
        if case .text(let word)? = written.headers.duplicate,
            written.bytes.span.extracting(word).matches(MessageName.possible)
        {
            job.redelivered = true
        }
    }

    /// Reads the routing key that a dead letter had as a job, before somebody moved it to a queue.
    private mutating func readFirstKey() {
        guard case .text(let key)? = written.headers.originalRoutingKey,
            JobRoutingKey(key, in: written.bytes.span) != nil
        else { return }
        job.firstRoutingKey = key
    }

    /// Reads when the producer queued the job: from the header, else from the property. A property that is not a
    /// plausible time is ignored.
    private mutating func readEnqueuedAt() {
        let time =
            if let value = written.headers.enqueuedAt {
                written.time(value, HeaderName.enqueuedAt, .badHeaders)
            } else {
                timestamp.flatMap { WrittenTime(Int64(clamping: $0)) }
            }
        guard let time else { return }
        job.enqueuedAt = time.milliseconds
        job.isEnqueuedInSeconds = time.isInSeconds
    }

    /// Deadline, `not_before`, `on_unknown`, `results`, reference and trace context.
    private mutating func readConditions() {
        job.deadline = written.readDeadline()
        job.notBefore = written.readNotBefore()
        if let wish = written.readResults() {
            job.wantsBatches = written.bytes.span.extracting(wish).matches(MessageName.batch)
            if !job.wantsBatches {
                written.fail(.badResults, "\(JobField.results) must be \(MessageName.batch), or left out")
            }
        }
        if let wish = written.readOnUnknown() {
            if let onUnknown = OnUnknown(utf8: written.bytes.span.extracting(wish)) {
                job.onUnknown = onUnknown
            } else {
                written.fail(.badOnUnknown, "\(JobField.onUnknown) must be retry or report")
            }
        }
        if let reference = written.readReference() {
            if reference.count <= Job.maximumReferenceLength {
                job.reference = reference
            } else {
                written.fail(.badReference, "the reference has more than \(Job.maximumReferenceLength) bytes")
            }
        }
        // A malformed trace context is ignored. It must not prevent the notification (W3C Trace Context 2.2).
        if case .text(let range) = written.headers.traceparent,
            TraceContext.isLegal(written.bytes.span.extracting(range))
        {
            job.traceparent = range
            readTraceState()
        }
    }

    /// Reads `tracestate`. One that is too long, or holds other bytes than printable ASCII, is ignored.
    private mutating func readTraceState() {
        guard case .text(let range) = written.headers.tracestate, !range.isEmpty,
            range.count <= TraceContext.longestState,
            written.bytes[range].allSatisfy({ (0x20...0x7e).contains($0) })
        else { return }
        job.tracestate = range
    }

    /// Reads where the job goes, and what it asks for there.
    private mutating func readRouting() {
        let routing = JobRouting(reading: &written, routingKey: job.routingKey)
        job.environment = routing.environment
        job.jobClass = routing.jobClass
        job.topic = routing.topic
        guard written.namesBroadcastChannel else { return }
        let request = BroadcastChannelRequest(reading: &written)
        job.operation = request.operation
        job.channelID = request.channelID
        job.storagePolicy = request.storagePolicy
    }

    /// Refuses a job that would wait for longer than `Job.longestWait`, or that expires at or before `notBefore`.
    ///
    /// - Parameters:
    ///   - notBefore: Milliseconds since 1970.
    ///   - now: The same, for the present.
    private mutating func checkNotBefore(_ notBefore: Int64, now: Int64) {
        // A worker checked the original of a copy. A clock that was set back since then must not fail the copy.
        if written.way != .returned, notBefore - now > Job.longestWait {
            let days = Job.longestWait / 86_400_000
            return failNotBefore(notBefore, "more than \(days) days from now; publish the job later")
        }
        if notBefore - now > Job.longestHold {
            let days = Job.longestHold / 86_400_000
            return failNotBefore(notBefore, "more than \(days) days from now: is this worker's clock right?")
        }
        guard let expiry = job.expiry, expiry <= notBefore else { return }
        let name: StaticString = job.deadline == expiry ? JobField.deadline.name : JobField.expiration.name
        failNotBefore(notBefore, "and its \(name) is \(DateTime.write(expiry)): leave time between the two")
    }

    private mutating func failNotBefore(_ notBefore: Int64, _ why: String) {
        let place = written.headers.notBefore == nil ? "\(JobField.notBefore)" : "the header \(HeaderName.notBefore)"
        written.fail(.badNotBefore, "\(place) is read as \(DateTime.write(notBefore)), \(why)")
    }
}
