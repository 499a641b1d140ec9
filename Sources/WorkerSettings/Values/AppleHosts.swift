/// The addresses of Apple's servers.
///
/// Apple's pages disagree about the host for broadcasts. The text names the host of device pushes. The samples name
/// `api-broadcast.push.apple.com` and `api-broadcast.sandbox.push.apple.com`. The text wins here; `apns.broadcast` sets
/// another host.
/// <https://developer.apple.com/documentation/usernotifications/sending-channel-management-requests-to-apns>
enum AppleHosts {
    /// Device pushes, production.
    static let production = "https://api.push.apple.com:443"
    /// Device pushes, development.
    static let development = "https://api.sandbox.push.apple.com:443"

    /// Managing broadcast channels, production.
    static let broadcastChannelsProduction = "https://api-manage-broadcast.push.apple.com:2196"
    /// Managing broadcast channels, development.
    static let broadcastChannelsDevelopment = "https://api-manage-broadcast.sandbox.push.apple.com:2195"

    /// Where broadcast channels are managed: at Apple's own host if device pushes go to Apple's own host. Beside a
    /// simulator or a proxy there is no default, because Apple must not see credentials for the simulator or proxy.
    static func broadcastChannels(production: String, development: String) -> APNSAddresses {
        APNSAddresses(
            production: production == Self.production ? broadcastChannelsProduction : nil,
            development: development == Self.development ? broadcastChannelsDevelopment : nil)
    }
}
