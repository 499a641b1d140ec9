import EventLoop
import Logging

/// The listening port and the threads behind it.
struct Gateway: Sendable {
    /// What the connections of a port are for.
    enum Role: String, Sendable {
        /// Pushes to devices, and to broadcast channels unless those have a port of their own.
        case pushes
        /// Management of broadcast channels.
        case broadcastChannels = "channels"
        /// Publishing to broadcast channels and nothing else.
        case broadcasts
    }

    /// How many clients may wait to be accepted.
    static let backlog = 512

    /// The port.
    let port: Int

    private let mailboxes: [Mailbox<GatewayLoop.Message>]
    private let threads: [LoopThread]

    /// Listens and starts the threads.
    ///
    /// - Parameters:
    ///   - service: What all connections share; its configuration names the addresses and the number of threads.
    ///   - certificates: The certificates clients are shown.
    ///   - logger: Tells of trouble.
    ///   - role: What is served.
    ///   - port: The port to listen at, served by one thread; nil for the configuration's port and number of threads.
    /// - Throws: ``SimulatorError`` where the port cannot be had.
    init(
        service: PushService, certificates: ServerCertificates, logger: Logger, role: Role = .pushes,
        port chosen: Int? = nil
    ) throws(SimulatorError) {
        var configuration = service.configuration
        if let chosen { (configuration.port, configuration.threads) = (chosen, 1) }
        var mailboxes: [Mailbox<GatewayLoop.Message>] = []
        var threads: [LoopThread] = []
        do {
            let listeners = try Self.listeners(configuration)
            port = listeners[0].port
            for index in 1..<max(1, configuration.threads) {
                let loop = try GatewayLoop(service: service, certificates: certificates, logger: logger)
                mailboxes.append(loop.mailbox)
                threads.append(try LoopThread.start(name: "apns-\(index)") { loop.run() })
            }
            let first = try GatewayLoop(
                service: service, certificates: certificates, logger: logger, role: role)
            first.accept(from: listeners, others: mailboxes)
            mailboxes.append(first.mailbox)
            threads.append(try LoopThread.start(name: "apns-0") { first.run() })
        } catch {
            for mailbox in mailboxes { mailbox.post(.stop) }
            if let error = error as? SimulatorError { throw error }
            throw SimulatorError(
                .network, "cannot listen at \(configuration.host):\(configuration.port): \(error)")
        }
        self.mailboxes = mailboxes
        self.threads = threads
    }

    /// Lets every connection look at the time and the service.
    func attend() {
        for mailbox in mailboxes { mailbox.post(.attend) }
    }

    private static func listeners(_ configuration: SimulatorConfiguration) throws -> [GatewayListener] {
        var listeners: [GatewayListener] = []
        var port = configuration.port
        for host in [configuration.host] + configuration.furtherHosts + configuration.scenario.addresses
        where !listeners.contains(where: { $0.host == host }) {
            guard let address = SocketAddress(host, port: port) else {
                throw SimulatorError(.configuration, "\(host) is not an IP address to listen at")
            }
            let listener = try GatewayListener(host: host, address: address, backlog: backlog)
            port = listener.port
            listeners.append(listener)
        }
        return listeners
    }

    /// Closes all connections and waits for the threads to end.
    func stop() async {
        for mailbox in mailboxes { mailbox.post(.stop) }
        // A thread ends within one turn of its loop. Even this wait must not block a thread of the cooperative pool.
        await withCheckedContinuation { continuation in
            let waiter = try? LoopThread.start(name: "apns-stop") {
                for thread in threads { thread.join() }
                continuation.resume()
            }
            if waiter == nil { continuation.resume() }
        }
    }
}
