import ArgumentParser

/// What a channel keeps for those who start to listen later.
enum StoragePolicyName: String, CaseIterable, ExpressibleByArgument {
    /// Nothing.
    case none
    /// The most recent message.
    case mostRecent = "most-recent"

    /// Apple's number for it.
    var number: Int64 { self == .none ? 0 : 1 }
}

/// What `martlet push` asks of a channel.
enum PushChannel: Equatable {
    /// Publish to it.
    case broadcast(String)
    /// Make a new one.
    case create(StoragePolicyName)
    /// Ask for its storage policy.
    case read(String)
    /// List all of the app's.
    case list
    /// End it.
    case delete(String)

    /// The operation as jobs name it.
    var operation: String {
        switch self {
        case .broadcast: "broadcast"
        case .create: "create_channel"
        case .read: "read_channel"
        case .list: "list_channels"
        case .delete: "delete_channel"
        }
    }

    /// The channel's identifier, where there is one already.
    var channelID: String? {
        switch self {
        case .broadcast(let id), .read(let id), .delete(let id): id
        case .create, .list: nil
        }
    }

    /// Whether it has a payload.
    var isBroadcast: Bool {
        if case .broadcast = self { return true }
        return false
    }

    /// The body of a raw job: what APNs wants to know about a new channel.
    var rawBody: [UInt8] {
        guard case .create(let policy) = self else { return [] }
        return JSONValue.object([
            ("message-storage-policy", .integer(policy.number)), ("push-type", .text("LiveActivity")),
        ]).bytes
    }
}

/// Channels on the command line.
struct PushChannelOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Broadcast to this channel instead of devices.", valueName: "channel-id"))
    var channel: String?
    @Flag(help: "Make a channel; --wait shows its identifier.") var createChannel = false
    @Option(help: "What a new channel keeps: none or most-recent.") var storagePolicy: StoragePolicyName?
    @Option(help: ArgumentHelp("Ask for a channel's storage policy.", valueName: "channel-id")) var readChannel: String?
    @Flag(help: "List the app's channels.") var listChannels = false
    @Option(help: ArgumentHelp("Delete a channel.", valueName: "channel-id")) var deleteChannel: String?

    /// Everything that was asked for; more than one thing is a mistake.
    var requests: [PushChannel] {
        var requests: [PushChannel] = []
        if let channel { requests.append(.broadcast(channel)) }
        if createChannel { requests.append(.create(storagePolicy ?? .none)) }
        if let readChannel { requests.append(.read(readChannel)) }
        if listChannels { requests.append(.list) }
        if let deleteChannel { requests.append(.delete(deleteChannel)) }
        return requests
    }

    /// What was asked for.
    var request: PushChannel? { requests.first }

    /// What is wrong with the flags, in words; nil when nothing is.
    var mistake: String? {
        if requests.count > 1 {
            return "Give one of --channel, --create-channel, --read-channel, --list-channels and --delete-channel."
        }
        if storagePolicy != nil && !createChannel {
            return "--storage-policy goes with --create-channel: it is fixed when a channel is made."
        }
        if createChannel && storagePolicy == nil {
            return "--create-channel needs --storage-policy, which cannot be changed later: none or most-recent."
        }
        return nil
    }
}
