package import APNSClient
package import PushModel

/// The `apns` section.
package struct APNSConfiguration: Sendable, Equatable {
    /// The default of ``idle``: 1 h, because Apple asks for long-lived connections.
    package static let standardIdle = Duration.seconds(3_600)
    /// The key of ``broadcast``.
    package static let broadcastKey = "apns.broadcast"
    /// The key of ``broadcastChannels``.
    package static let broadcastChannelsKey = "apns.channels"

    /// The address of production, `https://host:port`.
    package var production: String
    /// The address of development (Apple's sandbox), `https://host:port`.
    package var development: String
    /// More certificates that may vouch for APNs, PEM: for a simulator or a proxy.
    package var trustFile: String?
    /// How long a request may wait for its answer.
    package var requestTimeout: Duration
    /// A connection that was silent for this long gets a PING.
    package var pingInterval: Duration
    /// A route that pushed nothing for this long closes its connections to devices.
    package var idle: Duration
    /// How many connections to one host the worker opens in a second, once its burst is used up.
    package var connectRate: Double
    /// How many connections to one host the worker opens at once.
    package var connectBurst: Int
    /// The HTTP proxy on the way to APNs; nil for a direct one.
    package var proxy: ProxyConfiguration?
    /// Where messages to broadcast channels go. The loader puts the environment's address where the configuration has
    /// none.
    package var broadcast: APNSAddresses
    /// Where broadcast channels are managed. The address is nil if the configuration has none and the environment's
    /// address is not Apple's.
    package var broadcastChannels: APNSAddresses

    /// The address for an environment.
    package func address(of environment: APNSEnvironment) -> String {
        switch environment {
        case .production: production
        case .development: development
        }
    }
}

extension APNSConfiguration {
    /// The proxy on the way to an APNs; nil for a direct connection.
    ///
    /// - Throws: `APNSClientError` where the configured address is malformed, which the loader has ruled out.
    package func proxy(for endpoint: APNSEndpoint) throws(APNSClientError) -> HTTPProxy? {
        guard let proxy else { return nil }
        let parsed = try HTTPProxy.parse(proxy.address.revealed)
        guard let exceptions = proxy.exceptions else { return parsed }
        return ProxySelection(parsed, except: ProxyExceptions(exceptions)).proxy(for: endpoint)
    }
}

extension APNSConfiguration {
    /// One of the hosts that a worker's configuration sends requests to.
    package struct Host: Sendable, Equatable {
        /// The configuration key of the address.
        package var setting: String
        /// `https://host:port`.
        package var address: String
        /// Whether it is Apple's own address for managing broadcast channels, which is the default beside Apple's APNs.
        package var isAssumed = false

        /// A host that the configuration names.
        package init(setting: String, address: String) {
            self.setting = setting
            self.address = address
        }
    }

    /// The hosts that jobs about broadcast channels need in an environment, without the environment's own host.
    package func broadcastChannelHosts(of environment: APNSEnvironment) -> [Host] {
        let assumed = AppleHosts.broadcastChannels(production: production, development: development)
        let configured = [(Self.broadcastKey, broadcast), (Self.broadcastChannelsKey, broadcastChannels)]
        return configured.compactMap { key, addresses in
            guard let address = addresses.address(of: environment), address != self.address(of: environment) else {
                return nil
            }
            var host = Host(setting: key, address: address)
            host.isAssumed = address == assumed.address(of: environment)
            return host
        }
    }
}
