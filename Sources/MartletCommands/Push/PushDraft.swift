import ArgumentParser
import PushModel
import Rig
import Text

/// One job from the flags of `martlet push`.
struct PushDraft {
    /// The job id.
    var id: String
    /// Device tokens; several make a multicast job.
    var tokens: [String]
    /// The operation on a broadcast channel; nil for a push to device tokens.
    var broadcastChannel: PushBroadcastChannel?
    /// The APNs topic with its suffix.
    var topic: String
    /// Which APNs the tokens belong to.
    var environment: APNSEnvironment = .development
    /// How urgent the job is.
    var jobClass: JobClass = .normal
    /// The payload, an object; its bytes are sent as they are.
    var payload: [UInt8]
    /// Apple's push type; nil lets the worker derive it.
    var pushType: String?
    /// 10, 5 or 1; nil lets the worker choose.
    var priority: Int?
    /// Until when APNs may keep the notification, in seconds since 1970; 0 for one attempt, nil for none given.
    var expiration: Int64?
    /// The collapse id: a later notification with the same one replaces this notification.
    var collapseID: String?
    /// The notification's own id.
    var apnsID: String?
    /// Until when the job may be sent, in milliseconds since 1970.
    var deadline: Int64?
    /// When the job may be sent at the earliest, in milliseconds since 1970.
    var notBefore: Int64?
    /// What the worker does where APNs does not answer.
    var onUnknown: PushDeliveryOptions.UnknownPolicy?
    /// How the job's results come; nil leaves it to the worker's configuration.
    var results: PushDeliveryOptions.ResultForm?
    /// The producer's own text, which results repeat.
    var reference: String?
    /// Whether the payload goes alone, with everything else in headers.
    var raw = false

    /// The message to publish.
    ///
    /// - Throws: A `badInput` or `usage` failure that says what is wrong.
    func job() throws(CommandFailure) -> OutgoingJob {
        guard broadcastChannel != nil || !tokens.isEmpty, tokens.allSatisfy({ !$0.isEmpty }) else {
            throw CommandFailure(.usage, "a job needs at least one device token")
        }
        if broadcastChannel?.isBroadcast ?? true { try checkPayload() }
        let limit = Job.maximumCollapseIDLength
        if let length = collapseID?.utf8.count, length > limit {
            throw CommandFailure(.badInput, "the collapse id has \(length) bytes, and APNs takes \(limit)")
        }
        let key = try OutgoingJob.routingKey(environment: environment.rawValue, jobClass: jobClass, topic: topic)
        return try raw ? rawJob(key) : envelopedJob(key)
    }

    /// Refuses a payload that APNs would refuse in any case. Here the message can still name the file's fault.
    private func checkPayload() throws(CommandFailure) {
        var scanner = JSONScanner(0..<payload.count)
        let value: JSONValue
        do throws(JSONError) {
            value = try scanner.value(in: payload.span)
            try scanner.finish(in: payload.span)
        } catch {
            throw CommandFailure(.badInput, "the payload is not a JSON object: \(error.detail)")
        }
        guard value.kind == .object else { throw CommandFailure(.badInput, "the payload is not a JSON object") }
        let limit = payloadLimit
        guard payload.count <= limit else {
            throw CommandFailure(.badInput, "the payload has \(payload.count) bytes, and APNs takes \(limit)")
        }
    }

    /// The most bytes of payload that APNs takes.
    var payloadLimit: Int {
        topic.hasSuffix(".voip") || pushType == "voip" || broadcastChannel != nil ? 5120 : 4096
    }

    private func rawJob(_ key: String) throws(CommandFailure) -> OutgoingJob {
        var headers: [(name: String, value: JobHeader)] = []
        if let broadcastChannel {
            headers.append(("\(HeaderName.operation)", .text(broadcastChannel.operation.rawValue)))
            if let id = broadcastChannel.channelID { headers.append(("\(HeaderName.channelID)", .text(id))) }
        } else {
            guard tokens.count == 1 else {
                throw CommandFailure(.usage, "--raw carries one device token; \(tokens.count) need the enveloped form")
            }
            headers.append(("\(HeaderName.deviceToken)", .text(tokens[0])))
        }
        headers.append(("\(HeaderName.topic)", .text(topic)))
        if let pushType { headers.append(("\(HeaderName.pushType)", .text(pushType))) }
        if let priority { headers.append(("\(HeaderName.priority)", .integer(Int64(priority)))) }
        if let expiration { headers.append(("\(HeaderName.expiration)", .integer(expiration))) }
        if let collapseID { headers.append(("\(HeaderName.collapseID)", .text(collapseID))) }
        if let apnsID { headers.append(("\(HeaderName.apnsID)", .text(apnsID))) }
        if let deadline { headers.append(("\(HeaderName.deadline)", .integer(deadline))) }
        if let notBefore { headers.append(("\(HeaderName.notBefore)", .integer(notBefore))) }
        if let onUnknown { headers.append(("\(HeaderName.onUnknown)", .text(onUnknown.rawValue))) }
        if let results { headers.append(("\(HeaderName.results)", .text(results.rawValue))) }
        if let reference { headers.append(("\(HeaderName.reference)", .text(reference))) }
        return OutgoingJob(
            routingKey: key, contentType: OutgoingJob.raw, messageID: id, headers: headers, body: bodyOfRawJob,
            notifications: 1)
    }

    private var bodyOfRawJob: [UInt8] {
        guard let broadcastChannel, !broadcastChannel.isBroadcast else { return payload }
        return broadcastChannel.rawBody
    }

    private func envelopedJob(_ key: String) throws(CommandFailure) -> OutgoingJob {
        var members: [(field: JobField, value: JSON)] = [(.id, .text(id))]
        if let broadcastChannel {
            members.append((.operation, .text(broadcastChannel.operation.rawValue)))
            if let id = broadcastChannel.channelID { members.append((.channelID, .text(id))) }
            if case .create(let policy) = broadcastChannel {
                members.append((.storagePolicy, .integer(policy.number)))
            }
        } else if tokens.count == 1 {
            members.append((.deviceToken, .text(tokens[0])))
        } else {
            members.append((.deviceTokens, .array(tokens.map { .text($0) })))
        }
        members += [(.topic, .text(topic)), (.environment, .text(environment.rawValue))]
        if let pushType { members.append((.pushType, .text(pushType))) }
        if let priority { members.append((.priority, .integer(Int64(priority)))) }
        if let expiration { members.append((.expiration, .integer(expiration))) }
        if let collapseID { members.append((.collapseID, .text(collapseID))) }
        if let apnsID { members.append((.apnsID, .text(apnsID))) }
        if let deadline { members.append((.deadline, .text(DateTime.write(deadline, withMilliseconds: true)))) }
        if let notBefore { members.append((.notBefore, .text(DateTime.write(notBefore, withMilliseconds: true)))) }
        if let onUnknown { members.append((.onUnknown, .text(onUnknown.rawValue))) }
        if let results { members.append((.results, .text(results.rawValue))) }
        if let reference { members.append((.reference, .text(reference))) }
        if broadcastChannel?.isBroadcast ?? true { members.append((.payload, .verbatim(payload))) }
        let body = JSON.object(members.map { ("\($0.field)", $0.value) }).bytes
        guard body.count <= OutgoingJob.bodyLimit else {
            throw CommandFailure(
                .badInput, "the job has \(body.count) bytes, and a worker reads \(OutgoingJob.bodyLimit)")
        }
        return OutgoingJob(
            routingKey: key, contentType: OutgoingJob.enveloped, messageID: id, body: body,
            notifications: broadcastChannel == nil ? tokens.count : 1)
    }
}
