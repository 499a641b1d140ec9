import Rig
import Topology

/// The output of `martlet push --dry-run`.
enum PushPreview {
    /// Prints every message that would be published. Unreadable lines are reported on standard error.
    ///
    /// - Parameters:
    ///   - source: Where the jobs come from.
    ///   - format: How to print them.
    /// - Throws: Where lines were unreadable: `someFailed`, or `badInput` if there was no readable line.
    static func print(_ source: JobSource, _ format: OutputFormat) throws {
        switch source {
        case .one(let job): show(job, format)
        case .lines(let reader, let line):
            var (good, bad) = (0, 0)
            var told = ToldWarnings()
            while Console.failure == nil, let bytes = try reader.next() {
                guard !bytes.isEmpty else { continue }
                do throws(CommandFailure) {
                    let job = try line.job(bytes, newID: JobIdentifier.new)
                    for warning in told.first(of: job.warnings) {
                        Console.talk("\(reader.name):\(reader.lineNumber): warning: \(warning)")
                    }
                    show(job, format)
                    good += 1
                } catch {
                    Console.talk("\(reader.name):\(reader.lineNumber): \(error.message)")
                    bad += 1
                }
            }
            if bad > 0 { throw good > 0 ? CommandStatus.someFailed : .badInput }
        }
        Console.talk("Nothing was published.")
    }

    /// Prints one message.
    private static func show(_ job: OutgoingJob, _ format: OutputFormat) {
        switch format {
        case .json: Console.data(json(job).bytes)
        case .text:
            Console.data("exchange \(TopologyNames.jobs), routing key \(job.routingKey)")
            Console.data("content_type \(job.contentType), message_id \(job.messageID), delivery_mode 2")
            for header in job.headers {
                switch header.value {
                case .text(let text): Console.data("\(header.name): \(text)")
                case .integer(let number): Console.data("\(header.name): \(number)")
                }
            }
            Console.data("")
            // Printing shows a line end as an escape, so the body's lines are split here.
            let body = String(decoding: job.body, as: UTF8.self)
            for line in body.split(separator: "\n", omittingEmptySubsequences: false) { Console.data(String(line)) }
        }
    }

    /// One message for programs; the body as text.
    static func json(_ job: OutgoingJob) -> JSON {
        let headers = job.headers.map { header -> (String, JSON) in
            switch header.value {
            case .text(let text): (header.name, .text(text))
            case .integer(let number): (header.name, .integer(number))
            }
        }
        return .object([
            ("exchange", .text(TopologyNames.jobs)), ("routing_key", .text(job.routingKey)),
            ("content_type", .text(job.contentType)), ("message_id", .text(job.messageID)),
            ("headers", .object(headers)), ("body", .text(String(decoding: job.body, as: UTF8.self))),
        ])
    }
}
