import APNSClient
import PushModel

/// The keys of `apns`.
struct APNSKeys: Sendable {
    /// The defaults.
    private static let usual = APNSPoolConfiguration()

    let production = SettingKey(
        "apns.production", .apnsAddress, default: AppleHosts.production, "where pushes of production routes go")
    let development = SettingKey(
        "apns.development", .apnsAddress, default: AppleHosts.development, "where pushes of development routes go")
    let trustFile = SettingKey("apns.trust_file", .path("PEM"), "one more authority, for a simulator or a proxy")
    let requestTimeout = SettingKey(
        "apns.request_timeout", .duration(.milliseconds(100)...(.seconds(600))), default: usual.requestTimeout,
        "a request without an answer for this long is given up")
    let pingInterval = SettingKey(
        "apns.ping_interval", .duration(.seconds(1)...WorkerKeys.day), default: usual.pingInterval,
        "a connection silent for this long gets a PING")
    let idle = SettingKey(
        "apns.idle", .duration(.seconds(10)...WorkerKeys.day), default: APNSConfiguration.standardIdle,
        "a route that pushed nothing for this long closes its connections")
    let connectRate = SettingKey(
        "apns.connect_rate", .number(0.1...Double(ConnectRateLimiter.processRate), "connects per second"),
        default: ConnectRateLimiter.defaultRate, "how fast the worker opens connections to one host")
    let connectBurst = SettingKey(
        "apns.connect_burst", .integer(1...ConnectRateLimiter.processBurst),
        default: ConnectRateLimiter.defaultBurst, "connections to one host that need not wait for `connect_rate`")
    let proxy = SettingKey(
        "apns.proxy", .proxyAddress, without: "`HTTPS_PROXY` and `NO_PROXY`", "the HTTP proxy on the way to APNs")
    let broadcastProduction = SettingKey(
        "apns.broadcast.production", .apnsAddress, without: "as `apns.production`",
        "where messages to broadcast channels go")
    let broadcastDevelopment = SettingKey(
        "apns.broadcast.development", .apnsAddress, without: "as `apns.development`",
        "where messages to broadcast channels go")
    let broadcastChannelsProduction = SettingKey(
        "apns.channels.production", .apnsAddress,
        without: "`\(AppleHosts.broadcastChannelsProduction)` with Apple's own APNs",
        "where broadcast channels are managed")
    let broadcastChannelsDevelopment = SettingKey(
        "apns.channels.development", .apnsAddress,
        without: "`\(AppleHosts.broadcastChannelsDevelopment)` with Apple's own APNs",
        "where broadcast channels are managed")
}
