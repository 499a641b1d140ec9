package import PushModel

extension APNSConfiguration {
    /// The hosts that jobs about broadcast channels of an environment need beside the one for device pushes.
    package func broadcastChannelHosts(of environment: APNSEnvironment) -> [APNSHost] {
        let assumed = AppleHosts.channels(production: production, development: development)
        return [(Self.broadcastKey, broadcast), (Self.channelsKey, channels)].compactMap { key, addresses in
            guard let address = addresses.address(of: environment), address != self.address(of: environment) else {
                return nil
            }
            var host = APNSHost(setting: key, address: address)
            host.isAssumed = address == assumed.address(of: environment)
            return host
        }
    }
}
