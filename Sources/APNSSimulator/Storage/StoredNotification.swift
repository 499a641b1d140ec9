package import FoundationEssentials
package import Text

/// A push on its way to a device.
package struct StoredNotification: Codable, Equatable, Sendable {
    /// The identifier answered to the provider.
    package var id: UUIDBytes
    /// The key of the delivery log.
    package var uniqueID: UUIDBytes
    /// The bundle identifier.
    package var app: String
    /// The topic, or for a broadcast the bundle identifier.
    package var topic: String
    /// The broadcast channel; nil for a push to a device.
    package var broadcastChannel: String?
    /// The push type.
    package var type: String
    /// 10, 5 or 1.
    package var priority: Int
    /// Notifications with the same identifier replace each other.
    package var collapseID: String?
    /// Milliseconds since 1970 at which the push was accepted.
    package var acceptedAt: Int64
    /// Milliseconds since 1970 until which delivery is tried; equals ``acceptedAt`` where only one attempt is allowed.
    package var deadline: Int64
    /// The payload as sent.
    package var payload: Data

    private enum CodingKeys: String, CodingKey {
        case id, uniqueID, app, topic, type, priority, collapseID, acceptedAt, deadline, payload
        case broadcastChannel = "channel"
    }

    /// The place in storage: one for each app, and one for the most recent message of each of its broadcast channels.
    var slot: BroadcastChannelAddress { BroadcastChannelAddress(app: app, identifier: broadcastChannel ?? "") }

    /// How long APNs keeps a notification without an expiration, in milliseconds: 30 days. It keeps none longer.
    ///
    /// See Apple, "Viewing the status of push notifications using Metrics and APNs".
    static let longestStorage: Int64 = 30 * 86_400_000

    /// The time until which delivery is tried.
    ///
    /// - Parameters:
    ///   - expiration: The value of `apns-expiration` in seconds since 1970; nil without one.
    ///   - now: Milliseconds since 1970.
    ///   - longest: The longest storage in milliseconds.
    /// - Returns: Milliseconds since 1970. `now` for an expiration of 0 and for past dates, which allow one attempt.
    static func deadline(expiration: Int64?, now: Int64, longest: Int64 = longestStorage) -> Int64 {
        guard let expiration else { return now + longest }
        let date = expiration > Int64.max / 1000 ? Int64.max : expiration * 1000
        return min(max(date, now), now + longest)
    }
}
