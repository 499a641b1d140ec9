import ArgumentParser

/// The options of `martlet push` about broadcast channels.
struct PushBroadcastChannelOptions: ParsableArguments {
    @Option(
        name: .customLong("channel"),
        help: ArgumentHelp("Send to this broadcast channel instead of devices.", valueName: "channel-id"))
    var broadcastChannel: String?
    @Flag(help: "Make a broadcast channel; --wait shows its identifier.") var createChannel = false
    @Option(help: "What a new broadcast channel keeps: none or most-recent.")
    var storagePolicy: PushBroadcastChannel.StoragePolicy?
    @Option(help: ArgumentHelp("Ask for a broadcast channel's storage policy.", valueName: "channel-id"))
    var readChannel: String?
    @Flag(help: "List the app's broadcast channels.") var listChannels = false
    @Option(help: ArgumentHelp("Delete a broadcast channel.", valueName: "channel-id")) var deleteChannel: String?

    /// All operations that were asked for. More than one is a mistake.
    var requests: [PushBroadcastChannel] {
        var requests: [PushBroadcastChannel] = []
        if let broadcastChannel { requests.append(.broadcast(broadcastChannel)) }
        if createChannel { requests.append(.create(storagePolicy ?? .none)) }
        if let readChannel { requests.append(.read(readChannel)) }
        if listChannels { requests.append(.list) }
        if let deleteChannel { requests.append(.delete(deleteChannel)) }
        return requests
    }

    /// The operation that was asked for; nil for a push to devices.
    var request: PushBroadcastChannel? { requests.first }

    /// What is wrong with the flags, in words; nil when nothing is.
    var mistake: String? {
        if requests.count > 1 {
            return "Give one of --channel, --create-channel, --read-channel, --list-channels and --delete-channel."
        }
        if storagePolicy != nil && !createChannel {
            return "--storage-policy goes with --create-channel: it is fixed when a broadcast channel is made."
        }
        if createChannel && storagePolicy == nil {
            return "--create-channel needs --storage-policy, which cannot be changed later: none or most-recent."
        }
        return nil
    }
}
