/// What a job asks APNs to do.
///
/// Apple: <https://developer.apple.com/documentation/usernotifications/setting-up-broadcast-push-notifications>
package enum BroadcastChannelOperation: String, Hashable, Sendable, CaseIterable {
    /// A notification to device tokens. Nearly every job asks for this.
    case push
    /// A Live Activity update to all listeners of a broadcast channel.
    case broadcast
    /// A new broadcast channel.
    case createChannel = "create_channel"
    /// The storage policy of a broadcast channel.
    case readChannel = "read_channel"
    /// The identifiers of all broadcast channels of an app.
    case listChannels = "list_channels"
    /// The end of a broadcast channel.
    case deleteChannel = "delete_channel"

    /// The operation these bytes name.
    package init?(utf8 bytes: Span<UInt8>) {
        for candidate in Self.all where bytes.matches(candidate.text) {
            self = candidate
            return
        }
        return nil
    }

    /// All operations, built once because `allCases` builds a new array at each use.
    private static let all = Self.allCases

    /// The operation as constant text.
    package var text: StaticString {
        switch self {
        case .push: "push"
        case .broadcast: "broadcast"
        case .createChannel: "create_channel"
        case .readChannel: "read_channel"
        case .listChannels: "list_channels"
        case .deleteChannel: "delete_channel"
        }
    }

    /// Whether the operation manages broadcast channels. APNs has separate hosts and ports for management.
    package var isManagement: Bool { self != .push && self != .broadcast }

    /// Whether the operation is about one existing broadcast channel, which the job must name.
    package var needsBroadcastChannel: Bool { self == .broadcast || self == .readChannel || self == .deleteChannel }

    /// The method of its request (RFC 9110, section 9).
    package var method: StaticString {
        switch self {
        case .push, .broadcast, .createChannel: "POST"
        case .readChannel, .listChannels: "GET"
        case .deleteChannel: "DELETE"
        }
    }

    /// How much of an answer's body is kept, in bytes; the rest is dropped. The longest list, of all broadcast channels
    /// that an app may have, takes less than 512 KiB.
    package var answerLimit: Int { self == .listChannels ? 512 * 1_024 : 4_096 }
}
