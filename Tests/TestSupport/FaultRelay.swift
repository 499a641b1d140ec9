import EventLoop
import Glibc

/// The relay's thread: accepts, and moves bytes as the conditions allow.
final class FaultRelay: ReadinessHandler {
    /// Turned by the relay's thread.
    let loop: EventLoop
    /// Where clients connect.
    let port: Int
    /// What to do next.
    let mailbox: Mailbox<FaultProxy.Order>
    private let listener: Listener
    private var target: Int
    /// How bytes and connections are treated.
    private(set) var conditions: FaultProxy.Conditions
    private var connections: [ObjectIdentifier: RelayedConnection] = [:]

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - target: Where the server listens, on 127.0.0.1.
    ///   - conditions: How bytes and connections are treated at first.
    /// - Throws: `EventLoopError` when the system has no socket left.
    init(target: Int, conditions: FaultProxy.Conditions) throws(EventLoopError) {
        loop = try EventLoop()
        mailbox = Mailbox(waking: loop.wakeup)
        listener = try Listener(address: .loopback(port: 0))
        port = listener.address.port
        self.target = target
        self.conditions = conditions
        try loop.watch(listener.fileDescriptor, for: .readable, handler: self)
    }

    /// Relays until it is told to end.
    func run() {
        while (try? loop.turn(waitingAtMost: .seconds(1))) != nil, mailbox.take().allSatisfy(obey) {}
        for connection in connections.values { connection.end(withReset: false) }
        loop.unwatch(listener.fileDescriptor)
    }

    /// - Returns: Whether to go on.
    private func obey(_ order: FaultProxy.Order) -> Bool {
        switch order {
        case .conditions(let new):
            conditions = new
            for connection in connections.values { connection.conditionsChanged() }
        case .target(let port): target = port
        case .reset: for connection in connections.values { connection.end(withReset: true) }
        case .close: for connection in connections.values { connection.end(withReset: false) }
        case .end: return false
        }
        return true
    }

    /// Takes clients.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        while let client = try? listener.accept() {
            if conditions.refuses {
                FaultRelay.resetOnClose(client.fileDescriptor)
                continue
            }
            // A server that is not there closes the client's connection, as a forwarder does.
            guard let server = try? Socket.connect(to: .loopback(port: target), timeout: .seconds(5)),
                let connection = try? RelayedConnection(client, server, relay: self)
            else { continue }
            connections[ObjectIdentifier(connection)] = connection
        }
    }

    /// Lets an ended connection go.
    func forget(_ connection: RelayedConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// Makes closing a socket a reset (socket(7), SO_LINGER of zero seconds).
    static func resetOnClose(_ descriptor: Int32) {
        var none = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
    }
}
