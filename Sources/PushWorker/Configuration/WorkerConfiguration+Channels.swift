package import PushModel

/// One of the hosts that a worker's configuration sends requests to.
package struct APNSHost: Sendable, Equatable {
    /// The key of the configuration that says where it is.
    package var setting: String
    /// `https://host:port`.
    package var address: String
    /// Whether nobody named it, because Apple's place for it is known.
    package var isAssumed = false

    /// A host that the configuration names.
    package init(setting: String, address: String) {
        self.setting = setting
        self.address = address
    }
}

extension APNSConfiguration {
    /// The hosts that jobs about channels of an environment need beside the one for device pushes.
    package func channelHosts(of environment: APNSEnvironment) -> [APNSHost] {
        let assumed = AppleHosts.channels(production: production, development: development)
        return [(Destination.Kind.broadcast, broadcast), (.management, channels)].compactMap { kind, addresses in
            guard let address = addresses.address(of: environment), address != self.address(of: environment) else {
                return nil
            }
            var host = APNSHost(setting: kind.setting, address: address)
            host.isAssumed = address == assumed.address(of: environment)
            return host
        }
    }
}
