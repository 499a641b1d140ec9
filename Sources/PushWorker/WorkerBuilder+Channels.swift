import APNSClient
import PushModel
import TLS
import WorkerSettings

extension WorkerBuilder {
    /// Gives a route its ways to the hosts for channels, with the trust and the limits of its way to APNs.
    ///
    /// - Throws: `WorkerError` when an address cannot be used.
    func addChannelConnectors(
        to settings: inout LaneSettings.RouteSettings, of route: RouteConfiguration, trust: TLSContext,
        limiter: ConnectRateLimiter
    ) throws(WorkerError) {
        let apns = configuration.apns
        func connector(_ addresses: APNSAddresses, _ setting: String) throws(WorkerError) -> APNSConnector? {
            guard let address = addresses.address(of: route.environment) else { return nil }
            let (endpoint, proxy) = try place(address, setting, route.environment)
            return APNSConnector(endpoint: endpoint, trust: trust, limiter: limiter, proxy: proxy)
        }
        settings.broadcastConnector = try connector(apns.broadcast, Destination.Kind.broadcast.setting)
        settings.managementConnector = try connector(apns.channels, Destination.Kind.management.setting)
    }
}
