import PushModel
import PushWorker
import RabbitMQ
import Rig

/// The job of a dead letter, as a worker reads it.
enum LetterJob {
    /// The headers that the job had, and the indexes that the letter is about.
    ///
    /// - Parameters:
    ///   - properties: The letter's properties.
    ///   - bytes: The buffer with the letter.
    ///   - keepingDeadline: Whether the job's deadline is among them.
    static func headers(of properties: MessagePropertyReader, in bytes: [UInt8], keepingDeadline: Bool) -> [Field] {
        guard let table = properties.headers else { return [] }
        var headers: [Field] = []
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        while let field = try? reader.next(in: bytes) {
            let name = String(decoding: bytes[field.name], as: UTF8.self)
            let isKept =
                switch name {
                case "\(HeaderName.indexes)": true
                case "\(HeaderName.replay)": false
                case "\(HeaderName.deadline)": keepingDeadline
                default: !JobCopy.isRewritten(bytes.span.extracting(field.name))
                }
            if isKept { headers.append(field) }
        }
        return headers
    }

    /// Reads the job.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - properties: Its properties.
    ///   - headers: The headers of the job.
    ///   - routingKey: The key that the job came with.
    ///   - deadline: Another deadline for the job; nil to keep its own.
    ///   - now: Milliseconds since 1970.
    static func read(
        _ letter: BrokerMessage, _ properties: MessagePropertyReader, _ headers: [Field], routingKey: String,
        deadline: Int64? = nil, now: Int64
    ) -> Result<Job, JobDefect> {
        var bytes = letter.delivery.bytes
        func place(_ text: some Sequence<UInt8>) -> Range<Int> {
            let start = bytes.count
            bytes.append(contentsOf: text)
            return start..<bytes.count
        }
        let key = place(routingKey.utf8)
        let deadlineName = place("\(HeaderName.deadline)".utf8)
        var message = JobMessage(
            bytes: bytes, routingKey: key, contentType: properties.contentType,
            contentEncoding: properties.contentEncoding, messageID: properties.messageID, body: letter.delivery.body)
        for field in headers {
            guard let value = HeaderValue(field.value) else { continue }
            message.headers.take(name: field.name, value: value, in: bytes)
        }
        if let deadline { message.headers.take(name: deadlineName, value: .integer(deadline), in: bytes) }
        return JobDecoder().decode(message, now: now, random: { 0 })
    }
}
