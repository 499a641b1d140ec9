/// The result of one notification, beside what its job says.
package struct ResultReport: Sendable {
    /// The notification's position among the job's tokens.
    package var index: Int
    /// What happened, and why.
    package var final: FinalReport
    /// `apns-unique-id` of the answer; the development environment only.
    package var apnsUniqueID: [UInt8]?
    /// What the answer to an operation on channels said.
    package var channel: ChannelAnswer?
    /// When it was settled, in milliseconds since 1970.
    package var finishedAt: Int64
    /// How long the job waited before this attempt, in milliseconds.
    package var queueMilliseconds: Int64?
    /// From sending to the answer, in milliseconds.
    package var apnsMilliseconds: Int64?
    /// Whether the broker delivered the job again while it was worked on; what the job itself says counts as well.
    package var isRedelivered: Bool
    /// Whether the broker delivered the job again, and this tells what its first delivery came to.
    package var isSuppressedDuplicate: Bool

    /// A result from its parts.
    package init(
        index: Int, final: FinalReport, apnsUniqueID: [UInt8]? = nil, channel: ChannelAnswer? = nil, finishedAt: Int64,
        queueMilliseconds: Int64? = nil, apnsMilliseconds: Int64? = nil, isRedelivered: Bool = false,
        isSuppressedDuplicate: Bool = false
    ) {
        self.index = index
        self.final = final
        self.apnsUniqueID = apnsUniqueID
        self.channel = channel
        self.finishedAt = finishedAt
        self.queueMilliseconds = queueMilliseconds
        self.apnsMilliseconds = apnsMilliseconds
        self.isRedelivered = isRedelivered
        self.isSuppressedDuplicate = isSuppressedDuplicate
    }

    /// The result's `message_id`: UUIDv5(N, `<job id>/<attempt>/<index>`), with a replay's name after the job's id
    /// where there is one: `<job id>/<replay>/<attempt>/<index>`.
    /// - Parameters:
    ///   - index: The notification's position in `device_tokens`.
    ///   - job: The job.
    package static func messageID(of index: Int, for job: borrowing Job) -> UUIDBytes {
        var hash = SHA1()
        let bytes = job.bytes.span
        hash.update(.contractNamespace)
        hash.update(bytes.extracting(job.jobID))
        if let replay = job.replay {
            hash.update(UInt8(ascii: "/"))
            hash.update(bytes.extracting(replay))
        }
        hash.update(UInt8(ascii: "/"))
        hash.update(decimal: job.attempt)
        hash.update(UInt8(ascii: "/"))
        hash.update(decimal: index)
        return UUIDBytes(v5: hash)
    }

    /// Appends the routing key of the result and of its dead letter, `<outcome>.<environment>.<topic>`; what is not
    /// known is written `-`.
    package func appendRoutingKey(for job: borrowing Job, to buffer: inout [UInt8]) {
        buffer.append(final.outcome.text)
        buffer.append(UInt8(ascii: "."))
        buffer.append(job.environment?.text ?? "-")
        buffer.append(UInt8(ascii: "."))
        if job.topic.isEmpty {
            buffer.append(UInt8(ascii: "-"))
        } else {
            job.bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0[job.topic]) }
        }
    }

    /// Appends the result's body: one JSON object with every field present, null where it does not apply; the fields
    /// about channels are in the results of jobs about channels only, and `duplicate` where a push was suppressed.
    package func appendBody(for job: borrowing Job, from origin: ResultOrigin, to buffer: inout [UInt8]) {
        let room = room(for: job, from: origin)
        buffer.append(addingCapacity: room) { output in
            output.withUnsafeMutableBufferPointer { free, count in
                var writer = ByteWriter(free)
                write(job, origin, with: &writer)
                count = writer.count
            }
        }
    }
}

extension ResultReport {
    /// An upper bound of the body's length.
    private func room(for job: borrowing Job, from origin: ResultOrigin) -> Int {
        // The names, punctuation, numbers and the apns-id come to about 600 bytes.
        var length = 1_024 + origin.routeFragment.count + origin.workerFragment.count
        length += ByteWriter.room(forString: job.jobID.count) + ByteWriter.room(forString: job.topic.count)
        length += ByteWriter.room(forString: job.reference?.count ?? 0)
        length += ByteWriter.room(forString: Job.maximumTokenLength)
        length += ByteWriter.room(forString: apnsUniqueID?.count ?? 0)
        length += ByteWriter.room(forString: final.detail?.utf8.count ?? 0)
        length += ByteWriter.room(forString: final.reason?.rawValue.utf8.count ?? 0)
        if job.operation != .push {
            length += ByteWriter.room(forString: channel?.channelID?.count ?? job.channelID?.count ?? 0)
            length += channel?.channels?.count ?? 0
        }
        return length
    }

    private func write(_ job: borrowing Job, _ origin: ResultOrigin, with writer: inout ByteWriter) {
        let bytes = job.bytes.span
        writer.write("{\"job_id\":")
        writer.write(string: bytes.extracting(job.jobID))
        writer.write(",\"index\":")
        writer.write(decimal: Int64(index))
        writeVerdict(with: &writer)
        writer.write(",\"device_token\":")
        if origin.includesDeviceToken, index < job.tokenCount, job.tokenDefect(index) == nil {
            writer.write(string: bytes.extracting(job.deviceToken(index)))
        } else {
            writer.write("null")
        }
        writer.write(",\"token_invalid_since\":")
        writer.write(number: final.tokenInvalidSince)
        writer.write(",\"reference\":")
        writer.write(optional: job.reference, of: bytes)
        if job.tokenCount > 0 {
            writer.write(",\"apns_id\":\"")
            writer.write(job.apnsID(index))
            writer.write("\",\"apns_unique_id\":")
        } else {
            writer.write(",\"apns_id\":null,\"apns_unique_id\":")
        }
        if let apnsUniqueID { writer.write(string: apnsUniqueID.span) } else { writer.write("null") }
        if job.operation != .push { writeChannel(job, with: &writer) }
        writer.write(",\"topic\":")
        writer.write(optional: job.topic.isEmpty ? nil : job.topic, of: bytes)
        switch job.environment {
        case .production: writer.write(",\"environment\":\"production\"")
        case .development: writer.write(",\"environment\":\"development\"")
        case nil: writer.write(",\"environment\":null")
        }
        writer.write(origin.routeFragment.span)
        writer.write(decimal: Int64(job.attempt))
        writer.write(isRedelivered || job.redelivered ? ",\"redelivered\":true" : ",\"redelivered\":false")
        if isSuppressedDuplicate { writer.write(",\"duplicate\":\"suppressed\"") }
        writer.write(",\"enqueued_at\":")
        writer.write(number: job.enqueuedAt)
        writer.write(",\"finished_at\":")
        writer.write(decimal: finishedAt)
        writer.write(",\"queue_ms\":")
        writer.write(number: queueMilliseconds)
        writer.write(",\"apns_ms\":")
        writer.write(number: apnsMilliseconds)
        writer.write(origin.workerFragment.span)
    }

    /// What only jobs about channels have to tell.
    private func writeChannel(_ job: borrowing Job, with writer: inout ByteWriter) {
        writer.write(",\"operation\":\"")
        writer.write(job.operation.text)
        writer.write("\",\"channel_id\":")
        if let channelID = channel?.channelID {
            writer.write(string: channelID.span)
        } else {
            writer.write(optional: job.channelID, of: job.bytes.span)
        }
        writer.write(",\"storage_policy\":")
        writer.write(number: (channel?.storagePolicy ?? job.storagePolicy).map(Int64.init))
        writer.write(",\"channels\":")
        // Checked as JSON when it was read.
        if let channels = channel?.channels { writer.write(channels.span) } else { writer.write("null") }
        writer.write(",\"apns_request_id\":\"")
        writer.write(job.apnsID(0))
        writer.write("\"")
    }

    private func writeVerdict(with writer: inout ByteWriter) {
        writer.write(",\"outcome\":\"")
        writer.write(final.outcome.text)
        writer.write("\",\"action\":\"")
        writer.write(final.action.text)
        writer.write("\",\"status\":")
        writer.write(number: final.status.map(Int64.init))
        writer.write(",\"reason\":")
        writer.write(text: final.reason?.rawValue)
        writer.write(",\"detail\":")
        writer.write(text: final.detail)
    }
}

extension ByteWriter {
    fileprivate mutating func write(number: Int64?) {
        if let number { write(decimal: number) } else { write("null") }
    }

    fileprivate mutating func write(optional range: Range<Int>?, of bytes: Span<UInt8>) {
        if let range { write(string: bytes.extracting(range)) } else { write("null") }
    }

    fileprivate mutating func write(text: String?) {
        guard let text else { return write("null") }
        write(string: text.utf8Span.span)
    }
}
