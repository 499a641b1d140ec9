import EventLoop
import TLS

/// A simulator at work.
package final class RunningSimulator: Sendable {
    /// The address the gateway listens at.
    package let host: String

    /// The port of the gateway.
    package let port: Int

    /// The port of the admin API, nil without one.
    package let adminPort: Int?

    /// The path of the certificate that clients must trust.
    package let authorityFile: String

    /// The same certificate in PEM.
    package let authorityPEM: [UInt8]

    /// The certificate of the authority that issues provider certificates, in PEM.
    package let providerAuthorityPEM: [UInt8]

    /// What can be changed while the simulator runs.
    package let control: SimulatorControl

    private let gateway: Gateway
    private let admin: AdminService?
    private var service: PushService { control.service }
    private let side: DeviceSide?
    private let lock: StateLock

    /// Binds the parts together.
    ///
    /// - Parameters:
    ///   - gateway: The listening gateway.
    ///   - admin: The admin API.
    ///   - control: What can be changed while it runs.
    ///   - host: The address the gateway listens at.
    ///   - store: The certificates.
    ///   - devices: The device side.
    ///   - lock: Keeps other simulators out of the state directory.
    init(
        gateway: Gateway, admin: AdminService?, control: SimulatorControl, host: String, store: CertificateStore,
        devices: DeviceSide?, lock: StateLock
    ) {
        self.lock = lock
        side = devices
        self.gateway = gateway
        self.admin = admin
        self.control = control
        self.host = host
        port = gateway.port
        adminPort = admin?.port
        authorityFile = store.authorityFile
        authorityPEM = store.authorityPEM
        providerAuthorityPEM = store.providerAuthority.certificatePEM
    }

    /// The port devices connect to, nil without one.
    package var devicePort: Int? { side?.port }

    /// The port of broadcast channel management, nil without one.
    package var managementPort: Int? { side?.managementPort }

    /// The port for publishing to broadcast channels and nothing else, nil where the gateway takes such messages.
    package var broadcastPort: Int? { side?.broadcastPort }

    /// Registry, storage and broadcast channels, nil where the simulator has no devices.
    var devices: DeviceService? { side?.service }

    /// What every device token received.
    package var ledger: Ledger { service.ledger }

    /// Numbers about connections and the thin mode.
    package var counters: GatewayCounters { service.counters }

    /// Forgets the pushes in the ledger, the counts of requests and the progress of devices in the scenario.
    package func reset() { service.reset() }

    /// How long clients may take to leave before the end, in milliseconds.
    static let drainLimit = 2000

    /// Tells all clients that the end is near, and waits until they have left, at most ``drainLimit``.
    ///
    /// New streams are answered `Shutdown` meanwhile. In the thin mode this does nothing.
    package func drain() async {
        guard !service.configuration.acceptsAll else { return }
        control.announceEnd()
        side?.attend()
        let start = MonotonicTime.now()
        while counters.connectionsOpen > 0,
            MonotonicTime.now().nanoseconds(since: start) < UInt64(Self.drainLimit) * 1_000_000
        {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Closes all connections and ports and waits for the end of all threads.
    package func stop() async {
        side?.service.events.close()
        await admin?.stop()
        await gateway.stop()
        await side?.stop()
        lock.release()
    }
}
