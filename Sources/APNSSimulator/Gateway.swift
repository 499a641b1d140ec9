internal import EventLoop
internal import Logging
internal import TLS

/// The listening port and the threads behind it.
struct Gateway: Sendable {
    /// How many clients may wait to be accepted.
    static let backlog = 512

    /// The port.
    let port: Int

    private let mailboxes: [Mailbox<GatewayMessage>]
    private let threads: [LoopThread]

    /// Listens and starts the threads.
    ///
    /// - Parameters:
    ///   - service: What all connections share; its configuration names address and number of threads.
    ///   - tls: The TLS settings.
    ///   - logger: Tells of trouble.
    ///   - role: What is served.
    ///   - port: Where; nil for the configuration's own port and threads.
    /// - Throws: ``SimulatorError`` where the port cannot be had.
    init(
        service: PushService, tls: TLSContext, logger: Logger, role: GatewayRole = .pushes, port chosen: Int? = nil
    ) throws(SimulatorError) {
        var configuration = service.configuration
        if let chosen { (configuration.port, configuration.threads) = (chosen, 1) }
        var mailboxes: [Mailbox<GatewayMessage>] = []
        var threads: [LoopThread] = []
        do {
            guard let address = SocketAddress(configuration.host, port: configuration.port) else {
                throw SimulatorError(.configuration, "\(configuration.host) is not an IP address to listen at")
            }
            let listener = try Listener(address: address, backlog: Self.backlog)
            port = listener.address.port
            for index in 1..<max(1, configuration.threads) {
                let loop = try GatewayLoop(service: service, tls: tls, logger: logger)
                mailboxes.append(loop.mailbox)
                threads.append(try LoopThread.start(name: "apns-\(index)") { loop.run() })
            }
            let first = try GatewayLoop(service: service, tls: tls, logger: logger, role: role)
            first.accept(from: listener, others: mailboxes)
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

    /// Closes all connections and waits for the threads to end.
    func stop() async {
        for mailbox in mailboxes { mailbox.post(.stop) }
        // A thread ends within one turn of its loop, but even that wait is no business of the cooperative pool.
        await withCheckedContinuation { continuation in
            let waiter = try? LoopThread.start(name: "apns-stop") {
                for thread in threads { thread.join() }
                continuation.resume()
            }
            if waiter == nil { continuation.resume() }
        }
    }
}
