internal import EventLoop
internal import Logging
internal import TLS

/// A local APNs: HTTP/2 over TLS with Apple's rules, verdicts on demand and a ledger of what every device received.
package enum APNSSimulator {
    /// Starts a simulator and returns once it listens.
    ///
    /// - Parameter configuration: Everything that can be chosen.
    /// - Returns: The simulator; call ``RunningSimulator/stop()`` in the end.
    /// - Throws: ``SimulatorError`` where files, ports or certificates cannot be had.
    package static func start(_ configuration: SimulatorConfiguration) async throws(SimulatorError) -> RunningSimulator
    {
        let store = try CertificateStore(directory: configuration.stateDirectory, names: configuration.serverNames)
        let context: TLSContext
        do {
            context = try TLSContext.server(identity: store.identity, applicationProtocols: ["h2"], clientTrust: nil)
        } catch {
            throw SimulatorError(.credential, "cannot set TLS up: \(error)")
        }
        var logger = Logger(label: "apns.simulator")
        logger.logLevel = .warning
        let devices = try DeviceSide(configuration, identity: store.identity, logger: logger)
        let service = PushService(configuration: configuration, devices: devices?.service)
        var gateway: Gateway?
        do {
            let listening = try Gateway(service: service, tls: context, logger: logger)
            gateway = listening
            try devices?.openChannels(service: service, tls: context, logger: logger)
            var admin: AdminService?
            if let port = configuration.adminPort {
                admin = try await AdminService.start(service: service, port: port, logger: logger)
            }
            return RunningSimulator(
                gateway: listening, admin: admin, service: service, host: configuration.host, store: store,
                devices: devices)
        } catch {
            await gateway?.stop()
            await devices?.stop()
            throw error
        }
    }
}

/// A simulator at work.
package final class RunningSimulator: Sendable {
    /// The address the gateway listens at.
    package let host: String

    /// The port of the gateway.
    package let port: Int

    /// The port of the admin API, nil where there is none.
    package let adminPort: Int?

    /// The path of the certificate that clients must trust.
    package let authorityFile: String

    /// The same certificate in PEM.
    package let authorityPEM: [UInt8]

    private let gateway: Gateway
    private let admin: AdminService?
    private let service: PushService
    private let side: DeviceSide?

    /// Binds the parts together.
    ///
    /// - Parameters:
    ///   - gateway: The listening gateway.
    ///   - admin: The admin API.
    ///   - service: What the connections share.
    ///   - host: The address the gateway listens at.
    ///   - store: The certificates.
    ///   - devices: The device side.
    fileprivate init(
        gateway: Gateway, admin: AdminService?, service: PushService, host: String, store: CertificateStore,
        devices: DeviceSide?
    ) {
        side = devices
        self.gateway = gateway
        self.admin = admin
        self.service = service
        self.host = host
        port = gateway.port
        adminPort = admin?.port
        authorityFile = store.authorityFile
        authorityPEM = store.authorityPEM
    }

    /// The port devices connect to, nil where there is none.
    package var devicePort: Int? { side?.port }

    /// The port of channel management, nil where there is none.
    package var managementPort: Int? { side?.managementPort }

    /// The port for publishing to channels and nothing else, nil where the gateway takes such messages.
    package var broadcastPort: Int? { side?.broadcastPort }

    /// Registry, storage and channels, nil where the simulator has no devices.
    var devices: DeviceService? { side?.service }

    /// What every device token received.
    package var ledger: Ledger { service.ledger }

    /// Numbers about connections and the thin mode.
    package var counters: GatewayCounters { service.counters }

    /// Forgets pushes, counts and how far devices are in the scenario.
    package func reset() { service.reset() }

    /// Closes all connections and ports and waits for the end of all threads.
    package func stop() async {
        side?.service.events.close()
        await admin?.stop()
        await gateway.stop()
        await side?.stop()
    }
}
