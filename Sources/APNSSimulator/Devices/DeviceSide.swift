import Logging
import Synchronization
import TLS

/// The ports beside the gateway: for devices, for broadcast channel management and for publishing alone. Also holds the
/// service that they share.
final class DeviceSide: Sendable {
    /// Registry, storage, delivery log and broadcast channels.
    let service: DeviceService

    private let devices: DevicePort?
    private let management = Mutex<Gateway?>(nil)
    private let broadcasts = Mutex<Gateway?>(nil)

    /// Reads what was kept and opens the device port.
    ///
    /// - Parameters:
    ///   - configuration: The simulator's configuration.
    ///   - clock: The time of all rules.
    ///   - identity: The simulator's server certificate.
    ///   - health: Is told which files cannot be written.
    ///   - logger: Tells of trouble.
    /// - Returns: Nil where the configuration asks neither for these ports nor for issued device tokens.
    /// - Throws: ``SimulatorError`` where files or ports cannot be had.
    init?(
        _ configuration: SimulatorConfiguration, clock: VirtualClock, identity: CertificateIdentity,
        health: StorageHealth, logger: Logger
    ) throws(SimulatorError) {
        let wanted = configuration.devices
        guard
            wanted.port != nil || wanted.managementPort != nil || wanted.broadcastPort != nil
                || wanted.demandsIssuedTokens
        else { return nil }
        let service = try DeviceService(configuration: configuration, clock: clock, health: health, logger: logger)
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

    /// The port of broadcast channel management.
    var managementPort: Int? { management.withLock { $0?.port } }

    /// The port for publishing to broadcast channels and nothing else.
    var broadcastPort: Int? { broadcasts.withLock { $0?.port } }

    /// Opens the ports of broadcast channel management and of publishing alone, if the configuration has them.
    ///
    /// - Parameters:
    ///   - service: What all connections share.
    ///   - certificates: The certificates of the gateway.
    ///   - logger: Tells of trouble.
    /// - Throws: ``SimulatorError`` where a port cannot be had.
    func openBroadcastPorts(service: PushService, certificates: ServerCertificates, logger: Logger)
        throws(SimulatorError)
    {
        if let port = service.configuration.devices.managementPort {
            let gateway = try Gateway(
                service: service, certificates: certificates, logger: logger, role: .broadcastChannels, port: port)
            management.withLock { $0 = gateway }
        }
        if let port = service.configuration.devices.broadcastPort {
            let gateway = try Gateway(
                service: service, certificates: certificates, logger: logger, role: .broadcasts, port: port)
            broadcasts.withLock { $0 = gateway }
        }
    }

    /// Lets the connections of broadcast channel management and of publishing alone check the time and whether the
    /// service goes down.
    func attend() {
        management.withLock { $0 }?.attend()
        broadcasts.withLock { $0 }?.attend()
    }

    /// Closes the ports, waits for their threads and writes the last changes.
    func stop() async {
        await management.withLock { $0 }?.stop()
        await broadcasts.withLock { $0 }?.stop()
        await devices?.stop()
        service.storage.save()
    }
}
