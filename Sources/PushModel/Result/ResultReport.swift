import TLS
package import Text

/// The result of one notification, beside what its job says.
package struct ResultReport: Sendable {
    /// The notification's position among the job's tokens.
    package var index: Int
    /// What happened, and why.
    package var final: FinalReport
    /// `apns-unique-id` of the answer; the development environment only.
    package var apnsUniqueID: [UInt8]?
    /// What the answer to an operation on broadcast channels said.
    package var broadcastChannel: BroadcastChannelAnswer?
    /// When it was settled, in milliseconds since 1970.
    package var finishedAt: Int64
    /// How long the job waited before this attempt, in milliseconds; nil if that is not known.
    package var queueMilliseconds: Int64?
    /// The time from sending to the answer, in milliseconds.
    package var apnsMilliseconds: Int64?
    /// Whether the broker delivered the job again while the worker had it. The result is also marked as redelivered if
    /// the job itself says so.
    package var isRedelivered: Bool
    /// Whether this result is about a redelivery that was not pushed again. It repeats the outcome of the first
    /// delivery.
    package var isSuppressedDuplicate: Bool

    /// A result from its parts.
    package init(
        index: Int, final: FinalReport, apnsUniqueID: [UInt8]? = nil, broadcastChannel: BroadcastChannelAnswer? = nil,
        finishedAt: Int64,
        queueMilliseconds: Int64? = nil, apnsMilliseconds: Int64? = nil, isRedelivered: Bool = false,
        isSuppressedDuplicate: Bool = false
    ) {
        self.index = index
        self.final = final
        self.apnsUniqueID = apnsUniqueID
        self.broadcastChannel = broadcastChannel
        self.finishedAt = finishedAt
        self.queueMilliseconds = queueMilliseconds
        self.apnsMilliseconds = apnsMilliseconds
        self.isRedelivered = isRedelivered
        self.isSuppressedDuplicate = isSuppressedDuplicate
    }

    /// The result's `message_id`: UUIDv5(N, `<job id>/<attempt>/<index>`). For a replay, its name follows the job's id:
    /// `<job id>/<replay>/<attempt>/<index>`.
    ///
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

    /// Appends the routing key of the result and of its dead letter, `<outcome>.<environment>.<topic>`. An unknown
    /// environment or topic is written as `-`.
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

    /// Appends the result's body: one JSON object. A field that does not apply is null.
    ///
    /// Two kinds of fields may be absent. The fields about broadcast channels are only in results of such jobs.
    /// `duplicate` is only in the result of a push that was suppressed.
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
    func room(for job: borrowing Job, from origin: ResultOrigin) -> Int {
        // The names, punctuation, numbers and the apns-id come to about 600 bytes.
        var length = 1_024 + origin.route.count + origin.worker.count
        length += ByteWriter.room(forString: job.jobID.count) + ByteWriter.room(forString: job.topic.count)
        length += ByteWriter.room(forString: job.reference?.count ?? 0)
        length += ByteWriter.room(forString: Job.maximumTokenLength)
        length += ByteWriter.room(forString: apnsUniqueID?.count ?? 0)
        length += ByteWriter.room(forString: final.detail?.utf8.count ?? 0)
        length += ByteWriter.room(forString: final.reason?.rawValue.utf8.count ?? 0)
        if job.operation != .push {
            length += ByteWriter.room(forString: broadcastChannel?.channelID?.count ?? job.channelID?.count ?? 0)
            length += broadcastChannel?.identifiers?.count ?? 0
        }
        return length
    }

    private func write(_ job: borrowing Job, _ origin: ResultOrigin, with writer: inout ByteWriter) {
        let bytes = job.bytes.span
        writer.write("{")
        writer.write(.jobID, isFirst: true)
        writer.write(string: bytes.extracting(job.jobID))
        writer.write(.index)
        writer.write(decimal: Int64(index))
        writeOutcome(with: &writer)
        writer.write(.deviceToken)
        if origin.includesDeviceToken, index < job.tokenCount, job.tokenDefect(index) == nil {
            writer.write(string: bytes.extracting(job.deviceToken(index)))
        } else {
            writer.write("null")
        }
        writer.write(.tokenInvalidSince)
        writer.write(number: final.tokenInvalidSince)
        writer.write(.reference)
        writer.write(optional: job.reference, of: bytes)
        writer.write(.apnsID)
        if job.tokenCount > 0 { writer.write(quoted: job.apnsID(index)) } else { writer.write("null") }
        writer.write(.apnsUniqueID)
        if let apnsUniqueID { writer.write(string: apnsUniqueID.span) } else { writer.write("null") }
        if job.operation != .push { writeBroadcastChannel(job, with: &writer) }
        writer.write(.topic)
        writer.write(optional: job.topic.isEmpty ? nil : job.topic, of: bytes)
        writer.write(.environment)
        switch job.environment {
        case .production: writer.write("\"production\"")
        case .development: writer.write("\"development\"")
        case nil: writer.write("null")
        }
        writer.write(.route)
        writer.write(origin.route.span)
        writer.write(.attempt)
        writer.write(decimal: Int64(job.attempt))
        writer.write(.redelivered)
        writer.write(isRedelivered || job.redelivered ? "true" : "false")
        if isSuppressedDuplicate {
            writer.write(.duplicate)
            writer.write("\"suppressed\"")
        }
        writer.write(.enqueuedAt)
        writer.write(number: job.enqueuedAt)
        writer.write(.finishedAt)
        writer.write(decimal: finishedAt)
        writer.write(.queueMilliseconds)
        writer.write(number: queueMilliseconds)
        writer.write(.apnsMilliseconds)
        writer.write(number: apnsMilliseconds)
        writer.write(.worker)
        writer.write(origin.worker.span)
        writer.write("}")
    }

    private func writeOutcome(with writer: inout ByteWriter) {
        writer.write(.outcome)
        writer.write(text: final.outcome.text)
        writer.write(.action)
        writer.write(text: final.action.text)
        writer.write(.status)
        writer.write(number: final.status.map(Int64.init))
        writer.write(.reason)
        writer.write(text: final.reason?.rawValue)
        writer.write(.detail)
        writer.write(text: final.detail)
    }

    /// Writes the fields that only results of jobs about broadcast channels have.
    private func writeBroadcastChannel(_ job: borrowing Job, with writer: inout ByteWriter) {
        writer.write(.operation)
        writer.write(text: job.operation.text)
        writer.write(.channelID)
        if let channelID = broadcastChannel?.channelID {
            writer.write(string: channelID.span)
        } else {
            writer.write(optional: job.channelID, of: job.bytes.span)
        }
        writer.write(.storagePolicy)
        writer.write(number: (broadcastChannel?.storagePolicy ?? job.storagePolicy).map(Int64.init))
        writer.write(.broadcastChannels)
        // The list was validated as JSON when it was read, so it is written as it is.
        if let listed = broadcastChannel?.identifiers { writer.write(listed.span) } else { writer.write("null") }
        writer.write(.apnsRequestID)
        writer.write(quoted: job.apnsID(0))
    }
}

extension ByteWriter {
    /// Writes a field's name, and the comma that separates it from the field before.
    @inline(__always)
    mutating func write(_ field: ResultField, isFirst: Bool = false) {
        write(isFirst ? "\"" : ",\"")
        write(field.name)
        write("\":")
    }

    /// Writes constant text that needs no escapes as a JSON string.
    @inline(__always)
    mutating func write(text: StaticString) {
        write("\"")
        write(text)
        write("\"")
    }

    /// Writes a UUID as a JSON string.
    mutating func write(quoted uuid: UUIDBytes) {
        write("\"")
        write(uuid)
        write("\"")
    }

    /// Writes a number, or null.
    mutating func write(number: Int64?) {
        if let number { write(decimal: number) } else { write("null") }
    }

    /// Writes text as a JSON string, or null.
    mutating func write(optional range: Range<Int>?, of bytes: Span<UInt8>) {
        if let range { write(string: bytes.extracting(range)) } else { write("null") }
    }

    /// Writes text as a JSON string, or null.
    mutating func write(text: String?) {
        guard let text else { return write("null") }
        write(string: text.utf8Span.span)
    }
}
