import EventLoop
import Logging
import TLS

/// A local APNs: HTTP/2 over TLS with Apple's rules, verdicts on demand and a ledger of what every device received.
package enum APNSSimulator {
    /// Starts a simulator and returns once it listens.
    ///
    /// - Parameter configuration: Everything that can be chosen.
    /// - Returns: The simulator; call ``RunningSimulator/stop()`` in the end.
    /// - Throws: ``SimulatorError`` where files, ports or certificates cannot be had.
    package static func start(_ configuration: SimulatorConfiguration) async throws(SimulatorError) -> RunningSimulator
    {
        let directory = try StateDirectory(configuration.stateDirectory)
        let lock = try StateLock(of: directory)
        let store = try CertificateStore(directory: configuration.stateDirectory, names: configuration.serverNames)
        let clientTrust = TrustRoots(
            systemRoots: false, files: configuration.clientTrustFiles, pem: [store.providerAuthority.certificatePEM])
        var logger = Logger(label: "apns.simulator")
        logger.logLevel = .warning
        let health = StorageHealth()
        let archive = ControlArchive(in: directory, health: health, logger: logger)
        let kept = try archive.load()
        let clock = VirtualClock(advance: kept.clockAdvance)
        let devices = try DeviceSide(
            configuration, clock: clock, identity: store.identity, health: health, logger: logger)
        let service = PushService(
            configuration: configuration, clock: clock, devices: devices?.service, kept: kept, health: health)
        var gateway: Gateway?
        do {
            // The thin mode ignores client certificates, so it asks for none.
            let certificates = try ServerCertificates(
                store: store, clientTrust: configuration.acceptsAll ? nil : clientTrust,
                clientFault: service.clientFault)
            let listening = try Gateway(service: service, certificates: certificates, logger: logger)
            gateway = listening
            try devices?.openBroadcastPorts(service: service, certificates: certificates, logger: logger)
            let control = SimulatorControl(
                service: service, gateway: listening, certificates: certificates, authority: store.providerAuthority,
                archive: archive)
            var admin: AdminService?
            if let port = configuration.adminPort {
                admin = try await AdminService.start(service: service, control: control, port: port, logger: logger)
            }
            return RunningSimulator(
                gateway: listening, admin: admin, control: control, host: configuration.host, store: store,
                devices: devices, lock: lock)
        } catch {
            await gateway?.stop()
            await devices?.stop()
            throw error
        }
    }
}
