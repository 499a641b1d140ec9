// Jobs about broadcast channels: messages to their listeners, and their making, reading, listing and end.
extension JobReader {
    /// Whether the job says anything about an operation or a broadcast channel; nearly none does.
    var hasBroadcastChannelFields: Bool {
        headers.operation != nil || headers.channelID != nil || envelope.operation != nil
            || envelope.channelID != nil || envelope.storagePolicy != nil
    }

    private var hasDeviceToken: Bool {
        form == .raw ? headers.deviceToken != nil : envelope.deviceToken != nil || envelope.deviceTokens != nil
    }

    /// Reads a job that says something about an operation or a broadcast channel.
    ///
    /// - Returns: Whether it is a push to devices after all, and to be read on as such.
    mutating func readBroadcastChannelJob() -> Bool {
        let channel =
            form == .raw
            ? headers.channelID.flatMap { headerText($0, HeaderName.channelID, .badChannelID) }
            : string(envelope.channelID, .channelID)
        job.operation = readOperation() ?? (channel != nil && !hasDeviceToken ? .broadcast : .push)
        readBroadcastChannelID(channel)
        readStoragePolicy()
        guard job.operation != .push else { return true }
        if hasDeviceToken {
            fail(
                .ambiguousDeviceToken,
                "\(job.operation.text) takes no device token: send one job to the broadcast channel, one to devices")
        }
        // A second broadcast channel is worse than a missing one: who lost the answer is asked first.
        if job.operation == .createChannel, headers.onUnknown == nil, envelope.onUnknown == nil {
            job.onUnknown = .report
        }
        checkBroadcastChannelTopic()
        readBroadcastChannelHeaders()
        readBroadcastChannelBody()
        return false
    }

    /// The operation named; nil where the job names none, or one that does not exist.
    private mutating func readOperation() -> BroadcastChannelOperation? {
        let written =
            headers.operation.flatMap { headerText($0, HeaderName.operation, .badOperation) }
            ?? string(envelope.operation, .operation)
        guard let written else { return nil }
        let operation = BroadcastChannelOperation(utf8: job.bytes.span.extracting(written))
        if operation == nil {
            fail(
                .badOperation,
                "the operation must be push, broadcast, create_channel, read_channel, list_channels or delete_channel")
        }
        return operation
    }

    private mutating func readBroadcastChannelID(_ given: Range<Int>?) {
        guard let given else {
            if job.operation.needsBroadcastChannel {
                fail(
                    .missingChannelID,
                    "\(job.operation.text) needs the broadcast channel's identifier, \(JobField.channelID)")
            }
            return
        }
        guard BroadcastChannel.isLegal(job.bytes.span.extracting(given)) else {
            return fail(
                .badChannelID,
                "the broadcast channel's identifier must be base64, "
                    + "of at most \(BroadcastChannel.maximumIDLength) characters")
        }
        switch job.operation {
        case .push:
            fail(
                .ambiguousDeviceToken,
                "give either a device token or a broadcast channel: one job goes to devices, another to the channel")
        case .createChannel:
            fail(
                .badOperation,
                "create_channel takes no \(JobField.channelID): APNs chooses it, and the result names it")
        case .listChannels:
            fail(
                .badOperation,
                "list_channels takes no \(JobField.channelID); read_channel asks about one broadcast channel")
        case .broadcast, .readChannel, .deleteChannel:
            job.channelID = given
        }
    }

    /// The storage policy of the broadcast channel to be made; a raw job has it in its body.
    private mutating func readStoragePolicy() {
        guard let value = envelope.storagePolicy else { return }
        guard let policy = policy(value) else {
            return fail(.badStoragePolicy, "\(JobField.storagePolicy) must be 0 or none, or 1 or most_recent")
        }
        job.storagePolicy = policy
        if job.operation != .createChannel {
            fail(
                .badStoragePolicy,
                "\(JobField.storagePolicy) goes with create_channel only: it is fixed when a broadcast channel is made")
        }
    }

    private func policy(_ value: JSONValue) -> UInt8? {
        let text = job.bytes.span.extracting(value.range)
        switch value.kind {
        case .number where !value.flag:
            return text.wholeNumber().flatMap { $0 == 0 || $0 == 1 ? UInt8($0) : nil }
        case .string:
            if text.matches("none" as StaticString) { return 0 }
            return text.matches("most_recent" as StaticString) ? 1 : nil
        default: return nil
        }
    }

    /// Broadcast channels belong to a bundle identifier; the suffix of Live Activities is cut off, others are mistakes.
    private mutating func checkBroadcastChannelTopic() {
        let type = Topic.pushType(of: job.bytes.span.extracting(job.topic))
        if let type, type != .liveActivity {
            fail(
                .topicDisallowed,
                "the topic of a broadcast channel is the bundle identifier, without \(type.topicSuffix)")
        }
    }

    /// Push type, priority, expiration and the request's id.
    private mutating func readBroadcastChannelHeaders() {
        let isRaw = form == .raw
        let pushType =
            isRaw
            ? headers.pushType.flatMap { headerText($0, HeaderName.pushType, .invalidPushType) }
            : string(envelope.pushType, .pushType)
        job.pushType = .liveActivity
        if let pushType, PushType(pushType, in: job.bytes.span) != .liveActivity {
            fail(.invalidPushType, "broadcast channels carry Live Activities only: the push type is liveactivity")
        }
        switch writtenPriority() {
        case nil, 10: break
        case 5: job.priority = 5
        default: fail(.badPriority, "the priority of a broadcast must be 10 or 5")
        }
        readExpiration()
        if (isRaw ? headers.collapseID != nil : envelope.collapseID != nil) {
            fail(.badCollapseID, "a broadcast channel has no collapse id: its storage policy says what is kept")
        }
        readAPNSID(
            isRaw
                ? headers.apnsID.flatMap { headerText($0, HeaderName.apnsID, .badMessageID) }
                : string(envelope.apnsID, .apnsID))
        if isRaw { job.unknownFields = headers.unknownCount }
    }

    /// The request's body: a broadcast's payload, or what APNs wants to know about a new broadcast channel.
    private mutating func readBroadcastChannelBody() {
        let given: Range<Int>
        switch form {
        case .raw: given = job.body
        case .enveloped:
            if let payload = envelope.payload, payload.kind != .object {
                return fail(.badType, "\(JobField.payload) must be an object")
            }
            given = envelope.payload?.range ?? 0..<0
        case nil: return
        }
        switch job.operation {
        case .push: break
        case .broadcast:
            job.payload = given
            if given.isEmpty { fail(.payloadEmpty, "a broadcast needs a payload") }
            if given.count > BroadcastChannel.payloadLimit {
                fail(
                    .payloadTooLarge,
                    "the payload has \(given.count) bytes; a broadcast may have \(BroadcastChannel.payloadLimit)")
            }
        case .createChannel where form == .raw && !given.isEmpty:
            readBroadcastChannelRequest(given)
        case .createChannel:
            guard given.isEmpty else { return failPayload() }
            guard let policy = job.storagePolicy else {
                return fail(
                    .badStoragePolicy,
                    "create_channel needs \(JobField.storagePolicy): 0 keeps nothing, 1 the most recent message")
            }
            let start = job.bytes.count
            job.bytes.append(policy == 0 ? "{\"message-storage-policy\":0," : "{\"message-storage-policy\":1,")
            job.bytes.append("\"push-type\":\"LiveActivity\"}")
            job.payload = start..<job.bytes.count
        case .readChannel, .listChannels, .deleteChannel:
            guard given.isEmpty else { return failPayload() }
        }
    }

    private mutating func failPayload() {
        fail(.badRequestPayload, "\(job.operation.text) takes no payload: only a broadcast has one")
    }

    /// A raw job's description of a new broadcast channel, sent byte for byte; APNs judges it, the result repeats its
    /// policy.
    private mutating func readBroadcastChannelRequest(_ body: Range<Int>) {
        guard body.count <= BroadcastChannel.payloadLimit else {
            return fail(
                .payloadTooLarge,
                "the body has \(body.count) bytes; APNs reads \(BroadcastChannel.payloadLimit) at most")
        }
        job.payload = body
        let answer = BroadcastChannelAnswer(channelID: nil, reading: Array(job.bytes[body]))
        job.storagePolicy = answer.storagePolicy
    }
}
