// Jobs about broadcast channels: broadcasts, and creating, reading, listing and deleting broadcast channels.
extension JobReader {
    /// Reads the parts of the one request of a job whose operation is not `push`.
    mutating func readBroadcastChannelJob() {
        if written.namesDevices {
            written.fail(
                .ambiguousDeviceToken,
                "\(job.operation.text) takes no device token: send one job to the broadcast channel, one to devices")
        }
        // A second broadcast channel is worse than a missing one. So a lost answer is reported, unless the job says
        // otherwise.
        if job.operation == .createChannel, written.headers.onUnknown == nil, written.envelope.onUnknown == nil {
            job.onUnknown = .report
        }
        checkBroadcastChannelTopic()
        readBroadcastChannelHeaders()
        readBroadcastChannelBody()
    }

    /// Refuses a topic with a suffix other than that of Live Activities. Broadcast channels belong to a bundle
    /// identifier.
    private mutating func checkBroadcastChannelTopic() {
        let type = Topic.pushType(of: written.bytes.span.extracting(job.topic))
        if let type, type != .liveActivity {
            written.fail(
                .topicDisallowed,
                "the topic of a broadcast channel is the bundle identifier, without \(type.topicSuffix)")
        }
    }

    /// Reads the push type, the priority, the expiration and the request's id. Refuses a collapse identifier.
    private mutating func readBroadcastChannelHeaders() {
        let pushType = written.readPushType()
        job.pushType = .liveActivity
        if let pushType, PushType(pushType, in: written.bytes.span) != .liveActivity {
            written.fail(
                .invalidPushType, "broadcast channels carry Live Activities only: the push type is liveactivity")
        }
        switch written.readPriority() {
        case nil, 10: break
        case 5: job.priority = 5
        default: written.fail(.badPriority, "the priority of a broadcast must be 10 or 5")
        }
        job.expiration = written.readExpiration()
        if written.namesCollapseID {
            written.fail(
                .badCollapseID, "a broadcast channel has no collapse id: its storage policy says what is kept")
        }
        readAPNSID()
    }

    /// Reads the request's body: a broadcast's payload, or the description of a new broadcast channel.
    private mutating func readBroadcastChannelBody() {
        let given: Range<Int>
        switch written.form {
        case .raw: given = written.body
        case .enveloped:
            if let payload = written.envelope.payload, payload.kind != .object {
                return written.fail(.badType, "\(JobField.payload) must be an object")
            }
            given = written.envelope.payload?.range ?? 0..<0
        case nil: return
        }
        switch job.operation {
        case .push: break
        case .broadcast:
            job.payload = given
            if given.isEmpty { written.fail(.payloadEmpty, "a broadcast needs a payload") }
            if given.count > BroadcastChannel.payloadLimit {
                written.fail(
                    .payloadTooLarge,
                    "the payload has \(given.count) bytes; a broadcast may have \(BroadcastChannel.payloadLimit)")
            }
        case .createChannel where given.isEmpty: describeBroadcastChannel()
        case .createChannel where written.form == .raw: readBroadcastChannelDescription(given)
        case .createChannel, .readChannel, .listChannels, .deleteChannel:
            if !given.isEmpty { failPayload() }
        }
    }

    private mutating func failPayload() {
        written.fail(.badRequestPayload, "\(job.operation.text) takes no payload: only a broadcast has one")
    }

    /// Reads a raw job's description of a new broadcast channel. It is sent byte for byte, and APNs judges it. The
    /// result repeats its storage policy.
    private mutating func readBroadcastChannelDescription(_ body: Range<Int>) {
        guard body.count <= BroadcastChannel.payloadLimit else {
            return written.fail(
                .payloadTooLarge,
                "the body has \(body.count) bytes; APNs reads \(BroadcastChannel.payloadLimit) at most")
        }
        job.payload = body
        let answer = BroadcastChannelAnswer(channelID: nil, reading: Array(written.bytes[body]))
        job.storagePolicy = answer.storagePolicy
    }

    /// Writes the description of a new broadcast channel from the storage policy.
    private mutating func describeBroadcastChannel() {
        guard let policy = job.storagePolicy else {
            return written.fail(
                .badStoragePolicy,
                "create_channel needs \(JobField.storagePolicy): 0 keeps nothing, 1 the most recent message")
        }
        let start = written.bytes.count
        written.bytes.append(policy == 0 ? "{\"message-storage-policy\":0," : "{\"message-storage-policy\":1,")
        written.bytes.append("\"push-type\":\"LiveActivity\"}")
        job.payload = start..<written.bytes.count
    }
}
