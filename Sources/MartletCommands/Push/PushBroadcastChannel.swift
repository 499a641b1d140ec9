import ArgumentParser
import PushModel

/// What `martlet push` asks APNs to do with a broadcast channel.
enum PushBroadcastChannel: Equatable {
    /// What a broadcast channel keeps for devices that start to listen later.
    enum StoragePolicy: String, CaseIterable, ExpressibleByArgument {
        /// Nothing.
        case none
        /// The most recent message.
        case mostRecent = "most-recent"

        /// Apple's number for the policy.
        var number: Int64 { self == .none ? 0 : 1 }
    }

    /// Publish to it.
    case broadcast(String)
    /// Make a new one.
    case create(StoragePolicy)
    /// Ask for its storage policy.
    case read(String)
    /// List all of the app's.
    case list
    /// End it.
    case delete(String)

    /// The operation as jobs name it.
    var operation: BroadcastChannelOperation {
        switch self {
        case .broadcast: .broadcast
        case .create: .createChannel
        case .read: .readChannel
        case .list: .listChannels
        case .delete: .deleteChannel
        }
    }

    /// The broadcast channel's identifier; nil for an operation without one.
    var channelID: String? {
        switch self {
        case .broadcast(let id), .read(let id), .delete(let id): id
        case .create, .list: nil
        }
    }

    /// Whether this is a broadcast, the only operation with a payload.
    var isBroadcast: Bool {
        if case .broadcast = self { return true }
        return false
    }

    /// The body of a raw job: what APNs must know about a new broadcast channel; empty for the other operations.
    var rawBody: [UInt8] {
        guard case .create(let policy) = self else { return [] }
        return JSON.object([
            ("message-storage-policy", .integer(policy.number)), ("push-type", .text("LiveActivity")),
        ]).bytes
    }
}
