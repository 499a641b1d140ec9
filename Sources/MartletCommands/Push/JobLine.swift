import FoundationEssentials
import PushModel

/// Turns one line of a JSON Lines file into a job: the line is the body, byte for byte.
struct JobLine {
    /// The topic of lines that name none.
    var defaultTopic: String?
    /// The environment of lines that name none.
    var defaultEnvironment: APNSEnvironment?
    /// How urgent the jobs are.
    var jobClass: JobClass

    /// The fields of an envelope that decide where the job goes, and how many results come back.
    private struct Envelope: Decodable {
        var id: String?
        var topic: String?
        var environment: String?
        var deviceToken: String?
        var deviceTokens: [String]?
        var channelID: String?
        var operation: String?

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: JobField.self)
            id = try fields.decodeIfPresent(String.self, forKey: .id)
            topic = try fields.decodeIfPresent(String.self, forKey: .topic)
            environment = try fields.decodeIfPresent(String.self, forKey: .environment)
            deviceToken = try fields.decodeIfPresent(String.self, forKey: .deviceToken)
            deviceTokens = try fields.decodeIfPresent([String].self, forKey: .deviceTokens)
            channelID = try fields.decodeIfPresent(String.self, forKey: .channelID)
            operation = try fields.decodeIfPresent(String.self, forKey: .operation)
        }
    }

    /// Reads one line.
    ///
    /// - Parameters:
    ///   - line: The line without its end.
    ///   - newID: Makes an id for a job that has none. This id goes into the message's properties, not into the line.
    /// - Returns: The job to publish.
    /// - Throws: A `badInput` failure for a line that is not a job, and for a job that a worker would refuse. The
    ///   caller adds the line's number.
    func job(_ line: [UInt8], newID: () -> String) throws(CommandFailure) -> OutgoingJob {
        guard line.count <= OutgoingJob.bodyLimit else {
            throw CommandFailure(
                .badInput, "the job has \(line.count) bytes, and a worker reads \(OutgoingJob.bodyLimit)")
        }
        let envelope: Envelope
        do {
            envelope = try JSONDecoder().decode(Envelope.self, from: Data(line))
        } catch {
            throw CommandFailure(.badInput, "not a job: \(JSONFault.words(for: error))")
        }
        let isAboutBroadcastChannels = envelope.channelID != nil || (envelope.operation ?? "push") != "push"
        guard envelope.deviceToken != nil || envelope.deviceTokens?.isEmpty == false || isAboutBroadcastChannels else {
            throw CommandFailure(
                .badInput, "\(JobField.deviceToken), \(JobField.deviceTokens) or \(JobField.channelID) is missing")
        }
        guard let topic = envelope.topic ?? defaultTopic else {
            throw CommandFailure(.badInput, "\(JobField.topic) is missing; add it, or give --topic for all lines")
        }
        guard let environment = envelope.environment ?? defaultEnvironment?.rawValue else {
            throw CommandFailure(
                .badInput, "\(JobField.environment) is missing; add it, or give --environment for all lines")
        }
        var job = OutgoingJob(
            routingKey: try OutgoingJob.routingKey(environment: environment, jobClass: jobClass, topic: topic),
            contentType: OutgoingJob.enveloped, messageID: envelope.id ?? newID(), body: line,
            notifications: envelope.deviceTokens?.count ?? 1)
        try job.check()
        return job
    }
}
