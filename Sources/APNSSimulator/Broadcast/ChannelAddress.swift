/// What names a broadcast channel: an app and the identifier APNs gave out.
struct ChannelAddress: Codable, Hashable, Sendable {
    /// The bundle identifier.
    var app: String
    /// The channel's identifier, base64.
    var channel: String
}
