package import Text

// Several results as one JSON object. The fields that all share stand once. An array has the other fields of each.
extension ResultReport {
    /// The longest body of a message with several results, in bytes.
    package static var longestBatch: Int { 65_536 }

    /// Appends the beginning of a batch's body, up to its first entry.
    ///
    /// All results of the batch share this result's outcome, and the job's topic and environment. A field that most
    /// results lack is null here. An entry has the field again if it has a value for it.
    package func appendBatchHead(for job: borrowing Job, from origin: ResultOrigin, to buffer: inout [UInt8]) {
        // The names, the outcome and the environment come to about 300 bytes.
        let room = 512 + ByteWriter.room(forString: job.topic.count) + origin.route.count + origin.worker.count
        buffer.append(addingCapacity: room) { output in
            output.withUnsafeMutableBufferPointer { free, count in
                var writer = ByteWriter(free)
                writer.write("{")
                writer.write(.outcome, isFirst: true)
                writer.write(text: final.outcome.text)
                writer.write(.topic)
                writer.write(optional: job.topic.isEmpty ? nil : job.topic, of: job.bytes.span)
                writer.write(.environment)
                if let environment = job.environment {
                    writer.write(text: environment.text)
                } else {
                    writer.write("null")
                }
                writer.write(.route)
                writer.write(origin.route.span)
                writer.write(.worker)
                writer.write(origin.worker.span)
                for field in BatchField.oftenNull {
                    writer.write(field)
                    writer.write("null")
                }
                writer.write(.results)
                writer.write("[")
                count = writer.count
            }
        }
    }

    /// Appends the end of a batch's body.
    package static func appendBatchEnd(to buffer: inout [UInt8]) { buffer.append("]}") }

    /// Appends this result as an entry of a batch: only the fields that differ from the top.
    ///
    /// - Parameters:
    ///   - id: The result's `message_id`.
    ///   - isFirst: Whether no entry stands before it.
    ///   - job: The job, which is a push to devices.
    ///   - origin: What all results of the route share.
    ///   - buffer: The batch's body.
    package func appendEntry(
        _ id: UUIDBytes, isFirst: Bool, for job: borrowing Job, from origin: ResultOrigin, to buffer: inout [UInt8]
    ) {
        var room = room(for: job, from: origin) + ByteWriter.room(forString: job.correlationID?.count ?? 0)
        room += ByteWriter.room(forString: job.traceparent?.count ?? 0)
        buffer.append(addingCapacity: room) { output in
            output.withUnsafeMutableBufferPointer { free, count in
                var writer = ByteWriter(free)
                writer.write(isFirst ? "{" : ",{")
                writer.write(.messageID, isFirst: true)
                writer.write(quoted: id)
                writeEntry(job, origin, with: &writer)
                writer.write("}")
                count = writer.count
            }
        }
    }

    private func writeEntry(_ job: borrowing Job, _ origin: ResultOrigin, with writer: inout ByteWriter) {
        let bytes = job.bytes.span
        writer.write(ifAny: .correlationID, job.correlationID, of: bytes)
        writer.write(ifAny: .traceparent, job.traceparent, of: bytes)
        writer.write(.jobID)
        writer.write(string: bytes.extracting(job.jobID))
        writer.write(.index)
        writer.write(decimal: Int64(index))
        writer.write(.action)
        writer.write(text: final.action.text)
        writer.write(ifAny: .status, final.status.map(Int64.init))
        if let reason = final.reason {
            writer.write(.reason)
            writer.write(text: reason.rawValue)
        }
        if let detail = final.detail {
            writer.write(.detail)
            writer.write(text: detail)
        }
        if origin.includesDeviceToken, index < job.tokenCount, job.tokenDefect(index) == nil {
            writer.write(.deviceToken)
            writer.write(string: bytes.extracting(job.deviceToken(index)))
        }
        writer.write(ifAny: .tokenInvalidSince, final.tokenInvalidSince)
        writer.write(ifAny: .reference, job.reference, of: bytes)
        if job.tokenCount > 0 {
            writer.write(.apnsID)
            writer.write(quoted: job.apnsID(index))
        }
        if let apnsUniqueID {
            writer.write(.apnsUniqueID)
            writer.write(string: apnsUniqueID.span)
        }
        writer.write(.attempt)
        writer.write(decimal: Int64(job.attempt))
        writer.write(.redelivered)
        writer.write(isRedelivered || job.redelivered ? "true" : "false")
        if isSuppressedDuplicate {
            writer.write(.duplicate)
            writer.write(text: MessageName.suppressed)
        }
        writer.write(ifAny: .enqueuedAt, job.enqueuedAt)
        writer.write(ifAny: .finishedAt, finishedAt)
        writer.write(ifAny: .queueMilliseconds, queueMilliseconds)
        writer.write(ifAny: .apnsMilliseconds, apnsMilliseconds)
    }
}

extension ByteWriter {
    /// Writes a field with a number; nothing if there is no number.
    fileprivate mutating func write(ifAny field: ResultField, _ number: Int64?) {
        guard let number else { return }
        write(field)
        write(decimal: number)
    }

    /// Writes a field with text; nothing if there is no text.
    fileprivate mutating func write(ifAny field: ResultField, _ range: Range<Int>?, of bytes: Span<UInt8>) {
        guard let range else { return }
        write(field)
        write(string: bytes.extracting(range))
    }

    /// Writes a field that only batches have; nothing if there is no text.
    fileprivate mutating func write(ifAny field: BatchField, _ range: Range<Int>?, of bytes: Span<UInt8>) {
        guard let range else { return }
        write(field)
        write(string: bytes.extracting(range))
    }

    /// Writes the name of a field that only batches have.
    fileprivate mutating func write(_ field: BatchField, isFirst: Bool = false) {
        write(isFirst ? "\"" : ",\"")
        write(field.name)
        write("\":")
    }
}
