/// A job's request about broadcast channels: the operation, the broadcast channel and the storage policy.
struct BroadcastChannelRequest {
    /// The operation that the job names. If the job names none that exists: `broadcast` if it names a broadcast channel
    /// and no device token, else `push`.
    let operation: BroadcastChannelOperation
    /// Where the identifier of the broadcast channel stands; nil for operations that take none, and for an illegal one.
    private(set) var channelID: Range<Int>?
    /// The storage policy of the new broadcast channel, 0 or 1, from an enveloped job. A raw job has it in its body.
    private(set) var storagePolicy: UInt8?

    /// Reads a job that says something about an operation or a broadcast channel.
    init(reading written: inout WrittenJob) {
        let channelID = written.readChannelID()
        let named = Self.readOperation(&written)
        operation = named ?? (channelID != nil && !written.namesDevices ? .broadcast : .push)
        take(channelID, &written)
        if let value = written.envelope.storagePolicy { takeStoragePolicy(value, &written) }
    }

    /// The operation that the job names; nil if it names none, or one that does not exist.
    private static func readOperation(_ written: inout WrittenJob) -> BroadcastChannelOperation? {
        guard let name = written.readOperation() else { return nil }
        let operation = BroadcastChannelOperation(utf8: written.bytes.span.extracting(name))
        if operation == nil {
            written.fail(
                .badOperation,
                "the operation must be push, broadcast, create_channel, read_channel, list_channels or delete_channel")
        }
        return operation
    }

    private mutating func take(_ given: Range<Int>?, _ written: inout WrittenJob) {
        guard let given else {
            if operation.needsBroadcastChannel {
                written.fail(
                    .missingChannelID,
                    "\(operation.text) needs the broadcast channel's identifier, \(JobField.channelID)")
            }
            return
        }
        guard BroadcastChannel.isLegal(written.bytes.span.extracting(given)) else {
            return written.fail(
                .badChannelID,
                "the broadcast channel's identifier must be base64, "
                    + "of at most \(BroadcastChannel.maximumIDLength) characters")
        }
        switch operation {
        case .push:
            written.fail(
                .ambiguousDeviceToken,
                "give either a device token or a broadcast channel: "
                    + "one job goes to devices, another to the broadcast channel")
        case .createChannel:
            written.fail(
                .badOperation,
                "create_channel takes no \(JobField.channelID): APNs chooses it, and the result names it")
        case .listChannels:
            written.fail(
                .badOperation,
                "list_channels takes no \(JobField.channelID); read_channel asks about one broadcast channel")
        case .broadcast, .readChannel, .deleteChannel:
            channelID = given
        }
    }

    private mutating func takeStoragePolicy(_ value: JSONValue, _ written: inout WrittenJob) {
        storagePolicy = Self.storagePolicy(value, in: written.bytes.span)
        if storagePolicy == nil {
            written.fail(.badStoragePolicy, "\(JobField.storagePolicy) must be 0 or none, or 1 or most_recent")
        } else if operation != .createChannel {
            written.fail(
                .badStoragePolicy,
                "\(JobField.storagePolicy) goes with create_channel only: it is fixed when a broadcast channel is made")
        }
    }

    private static func storagePolicy(_ value: JSONValue, in bytes: Span<UInt8>) -> UInt8? {
        let text = bytes.extracting(value.range)
        switch value.kind {
        case .number where !value.flag:
            return text.wholeNumber().flatMap { $0 == 0 || $0 == 1 ? UInt8($0) : nil }
        case .string:
            if text.matches("none" as StaticString) { return 0 }
            return text.matches("most_recent" as StaticString) ? 1 : nil
        default: return nil
        }
    }
}
