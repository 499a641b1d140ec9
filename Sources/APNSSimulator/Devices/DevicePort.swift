import EventLoop
import Logging
import TLS

/// The port devices connect to, and the thread behind it.
struct DevicePort: Sendable {
    /// How many devices may wait to be accepted.
    static let backlog = 512

    /// The port.
    let port: Int

    private let mailbox: Mailbox<DevicePortMessage>
    private let thread: LoopThread

    /// Listens and starts the thread.
    ///
    /// - Parameters:
    ///   - service: What devices share.
    ///   - host: The address to listen at.
    ///   - port: The port; 0 for any free one.
    ///   - identity: The simulator's server certificate.
    ///   - logger: Tells of trouble.
    /// - Throws: ``SimulatorError`` where the port cannot be had.
    init(
        service: DeviceService, host: String, port: Int, identity: CertificateIdentity, logger: Logger
    ) throws(SimulatorError) {
        guard let address = SocketAddress(host, port: port) else {
            throw SimulatorError(.configuration, "\(host) is not an IP address to listen at")
        }
        do {
            let tls = try TLSContext.server(
                identity: identity, applicationProtocols: [DeviceFrame.applicationProtocol],
                clientTrust: service.authority.trust)
            let listener = try Listener(address: address, backlog: Self.backlog)
            self.port = listener.address.port
            let loop = try DeviceLoop(service: service, tls: tls, listener: listener, logger: logger)
            mailbox = loop.mailbox
            service.attach(mailbox, number: self.port)
            thread = try LoopThread.start(name: "apns-devices") { loop.run() }
        } catch {
            service.attach(nil)
            throw SimulatorError(.network, "cannot listen for devices at \(host):\(port): \(error)")
        }
    }

    /// Closes all connections and waits for the thread to end.
    func stop() async {
        mailbox.post(.stop)
        await withCheckedContinuation { continuation in
            let waiter = try? LoopThread.start(name: "devices-stop") {
                thread.join()
                continuation.resume()
            }
            if waiter == nil { continuation.resume() }
        }
    }
}
