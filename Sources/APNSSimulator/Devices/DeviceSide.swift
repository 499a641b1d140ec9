internal import Logging
import Synchronization
internal import TLS

/// The ports beside the gateway: devices and channel management, with what they share.
final class DeviceSide: Sendable {
    /// Registry, storage, delivery log and channels.
    let service: DeviceService

    private let devices: DevicePort?
    private let channels = Mutex<Gateway?>(nil)

    /// Reads what was kept and opens the device port.
    ///
    /// - Parameters:
    ///   - configuration: The simulator's configuration.
    ///   - identity: The simulator's server certificate.
    ///   - logger: Tells of trouble.
    /// - Returns: nil where the configuration asks for none of it.
    /// - Throws: ``SimulatorError`` where files or ports cannot be had.
    init?(_ configuration: SimulatorConfiguration, identity: CertificateIdentity, logger: Logger) throws(SimulatorError)
    {
        let wanted = configuration.devices
        guard wanted.port != nil || wanted.managementPort != nil || wanted.demandsIssuedTokens else { return nil }
        let service = try DeviceService(configuration: configuration, logger: logger)
        self.service = service
        if let port = wanted.port {
            devices = try DevicePort(
                service: service, host: configuration.host, port: port, identity: identity, logger: logger)
        } else {
            devices = nil
        }
    }

    /// The port devices connect to.
    var port: Int? { devices?.port }

    /// The port of channel management.
    var managementPort: Int? { channels.withLock { $0?.port } }

    /// Opens the port of channel management, where one is asked for.
    ///
    /// - Parameters:
    ///   - service: What all connections share.
    ///   - tls: The TLS settings of the gateway.
    ///   - logger: Tells of trouble.
    /// - Throws: ``SimulatorError`` where the port cannot be had.
    func openChannels(service: PushService, tls: TLSContext, logger: Logger) throws(SimulatorError) {
        guard let port = service.configuration.devices.managementPort else { return }
        let gateway = try Gateway(service: service, tls: tls, logger: logger, managementPort: port)
        channels.withLock { $0 = gateway }
    }

    /// Closes the ports, waits for their threads and writes what is left to write.
    func stop() async {
        await channels.withLock { $0 }?.stop()
        await devices?.stop()
        service.save()
    }
}
