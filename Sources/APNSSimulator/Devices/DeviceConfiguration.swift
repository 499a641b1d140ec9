/// Everything that can be chosen about devices, storage and broadcast.
package struct DeviceConfiguration: Sendable {
    /// The port devices connect to; 0 for any free one, nil for no devices at all.
    package var port: Int?
    /// The port of broadcast channel management; 0 for any free one, nil for no broadcast channels. Apple's are 2195
    /// (development) and 2196.
    package var managementPort: Int?
    /// A port that only publishes to broadcast channels, as `api-broadcast.push.apple.com` in Apple's samples does.
    /// 0 for any free one; nil for publishing on the gateway, as Apple's text says.
    package var broadcastPort: Int?
    /// Whether device tokens that the simulator did not issue are refused.
    package var demandsIssuedTokens = false
    /// Whether all notifications wait for an offline device, instead of only the newest of each app.
    package var storesAll = false
    /// How many notifications may wait or be on their way, for all devices together. Further pushes are answered 503.
    package var backlogLimit = 100_000
    /// The lifetime of a device token, in seconds; nil for as long as its app is installed.
    package var tokenLifetime: Int64?
    /// How long priority 5 waits before a device that saves power gets it as a group, in milliseconds.
    package var groupInterval: Int64 = NotificationStore.groupInterval
    /// The apps that have the broadcast capability; nil for all.
    package var broadcastApps: Set<String>?
    /// The present, in milliseconds since 1970; nil for the simulator's own clock.
    package var clock: (@Sendable () -> Int64)?

    /// Starts with no ports and the defaults above.
    package init() {}
}
