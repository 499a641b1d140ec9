/// What names a broadcast channel: an app and the identifier APNs gave out.
struct BroadcastChannelAddress: Codable, Hashable, Sendable {
    /// The bundle identifier.
    var app: String
    /// The broadcast channel's identifier, base64.
    var identifier: String

    private enum CodingKeys: String, CodingKey {
        case app
        case identifier = "channel"
    }
}
