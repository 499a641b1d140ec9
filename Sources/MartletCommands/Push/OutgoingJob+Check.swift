import PushModel
import Rig
import WorkerSettings

// Checks a job with the worker's own reader, before it is published.
extension OutgoingJob {
    /// Makes sure that a worker will not call the job, or one of its notifications, `invalid`. Takes over ``notBefore``
    /// from the reader, and writes a warning for each field that workers ignore.
    ///
    /// - Parameter now: Milliseconds since 1970, for the limit of `not_before`.
    /// - Throws: A `badInput` failure with the reason and the detail that the result would have.
    mutating func check(now: Int64 = JobIdentifier.now()) throws(CommandFailure) {
        switch JobDecoder().decode(message, now: now, random: { 0 }) {
        case .failure(let defect):
            throw CommandFailure(.badInput, "a worker would refuse it: \(defect.reason.rawValue), \(defect.detail)")
        case .success(let job):
            for index in 0..<job.tokenCount {
                guard let defect = job.tokenDefect(index) else { continue }
                throw CommandFailure(
                    .badInput,
                    "a worker would refuse \(JobField.deviceTokens)[\(index)]: "
                        + "\(defect.reason.rawValue), \(defect.detail)")
            }
            notBefore = job.notBefore
            if job.unknownFields > 0, contentType == Self.enveloped { warnings = unknownFields }
        }
    }

    /// A sentence for each field of an enveloped job that workers do not know.
    private var unknownFields: [String] {
        let known = JobField.allCases.map(\.stringValue)
        let names = ((try? JSON(reading: body)) ?? .null).members.map(\.0).filter { !known.contains($0) }
        return names.map {
            "unknown field \"\($0.printable)\", which workers ignore.\(Suggestion.sentence(for: $0, among: known))"
        }
    }

    /// The job as the broker will deliver it.
    private var message: JobMessage {
        var bytes: [UInt8] = []
        func place(_ text: some Sequence<UInt8>) -> Range<Int> {
            let start = bytes.count
            bytes.append(contentsOf: text)
            return start..<bytes.count
        }
        let (key, type, id) = (place(routingKey.utf8), place(contentType.utf8), place(messageID.utf8))
        let fields = headers.map { header -> (Range<Int>, HeaderValue) in
            switch header.value {
            case .text(let text): (place(header.name.utf8), .text(place(text.utf8)))
            case .integer(let number): (place(header.name.utf8), .integer(number))
            }
        }
        let body = place(body)
        var message = JobMessage(bytes: bytes, routingKey: key, contentType: type, messageID: id, body: body)
        for (name, value) in fields { message.headers.take(name: name, value: value, in: bytes) }
        return message
    }
}
