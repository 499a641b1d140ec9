import PushModel
import RabbitMQ

@testable import PushWorker

/// What producers, and whoever can write to the broker, can send to a worker.
enum BrokerFuzzing {
    private static let routingKey = Array("development.normal.com.example.app".utf8)

    /// The first two bytes say how many bytes of properties follow; the rest is the body.
    static func job(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return }
        let length = min(Int(bytes[0]) << 8 | Int(bytes[1]), bytes.count - 2)
        let buffer = routingKey + bytes.dropFirst(2)
        let properties = routingKey.count..<routingKey.count + length
        let body = properties.upperBound..<buffer.count
        var message = JobMessage(bytes: buffer, routingKey: 0..<routingKey.count, body: body, redelivered: true)
        do {
            try DeliveryReader.read(properties, into: &message)
        } catch {
            return
        }
        let found: (job: Job, refusal: FinalReport?)
        switch JobDecoder().decode(message, now: 1_800_000_000_000, random: { 4 }) {
        case .success(let job): found = (job, nil)
        case .failure(let defect): found = (defect.job, defect.report)
        }
        let job = JobInFlight(
            job: found.job, refusal: found.refusal, receipt: nil, properties: properties, receivedAt: 0
        )
        _ = job.redeliveryKey
        while let index = job.next()?.index {
            _ = job.job.apnsID(index)
            _ = job.job.tokenDefect(index)
            var text: [UInt8] = []
            let report = ResultReport(index: index, final: FinalReport(.accepted, .none), finishedAt: 0)
            report.appendRoutingKey(for: job.job, to: &text)
            let origin = ResultOrigin(route: "fuzz", worker: "fuzz", includesDeviceToken: true)
            report.appendBody(for: job.job, from: origin, to: &text)
            precondition(String(validating: text, as: UTF8.self) != nil, "a result is always text")
        }
    }

    /// What readers of results take apart. Each result is JSON again.
    static func resultBatch(_ bytes: [UInt8]) {
        guard let entries = ResultBatchReader.entries(in: bytes) else { return }
        precondition(entries.count <= Job.maximumTokens)
        for entry in entries {
            let again = Array(#"{"results":[{"message_id":"a"}],"one":"#.utf8) + entry.body + [UInt8(ascii: "}")]
            precondition(
                again.count > ResultReport.longestBatch || ResultBatchReader.entries(in: again)?.count == 1,
                "a result is JSON")
        }
    }

    static func properties(_ bytes: [UInt8]) {
        guard let properties = try? MessagePropertyReader(bytes, 0..<bytes.count), let table = properties.headers else {
            return
        }
        var reader = FieldTableReader(table)
        while let field = try? reader.next(in: bytes) { _ = try? FieldValue(field, in: bytes) }
    }

    static func uri(_ bytes: [UInt8]) {
        _ = try? AMQPEndpoint.parse(uri: String(decoding: bytes, as: UTF8.self))
    }
}
