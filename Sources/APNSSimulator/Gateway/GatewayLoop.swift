import EventLoop
import Logging
import TLS

/// One thread of the gateway: an event loop and the connections that live on it. One of them also accepts.
final class GatewayLoop {
    /// Buffers that the connections of one loop share, as only one of them is at work at a time.
    final class Buffers {
        /// What a read from a socket fills.
        var ciphertext = [UInt8](repeating: 0, count: 64 << 10)
        /// What a read from TLS fills.
        var plaintext = [UInt8](repeating: 0, count: 32 << 10)
        /// What a protocol has to send.
        var output: [UInt8] = []

        /// Makes the buffers.
        init() { output.reserveCapacity(64 << 10) }
    }

    /// The messages that other threads send to a gateway's thread.
    enum Message: Sendable {
        /// Close everything and end.
        case stop
        /// Serve this socket.
        case adopt(SocketBox)
        /// Let every connection look at the time and the service.
        case attend
    }

    /// How many connections a thread serves; more are closed at once.
    static let connectionLimit = 4096

    /// The event loop, of this thread only.
    let loop: EventLoop

    /// Where other threads leave messages.
    let mailbox: Mailbox<Message>

    /// The certificates clients are shown.
    let certificates: ServerCertificates

    /// What the connections of this thread share.
    let buffers = Buffers()

    /// Tells of connections that fail.
    let logger: Logger

    /// A push that is taken to its device at the end of the turn.
    private struct Held {
        var arrival: Arrival
        var connection: GatewayConnection
        var completion: (Bool) -> Void
    }

    private let service: PushService
    private let role: Gateway.Role
    private var listeners: [GatewayListener] = []
    private var others: [Mailbox<Message>] = []
    private var nextOther = 0
    private var connections: [Int: GatewayConnection] = [:]
    private var held: [Held] = []
    private var isStopping = false

    /// Makes a loop; ``run()`` then belongs to its thread.
    ///
    /// - Parameters:
    ///   - service: What all connections share.
    ///   - certificates: The certificates clients are shown.
    ///   - logger: Tells of connections that fail.
    ///   - role: What its connections are for.
    /// - Throws: ``SimulatorError`` where the system gives no event loop.
    init(
        service: PushService, certificates: ServerCertificates, logger: Logger, role: Gateway.Role = .pushes
    ) throws(SimulatorError) {
        self.service = service
        self.role = role
        self.certificates = certificates
        self.logger = logger
        do {
            loop = try EventLoop()
        } catch {
            throw SimulatorError(.network, "cannot make an event loop: \(error)")
        }
        mailbox = Mailbox(waking: loop.wakeup)
    }

    /// Makes this loop the one that accepts.
    ///
    /// - Parameters:
    ///   - listeners: Where clients connect.
    ///   - others: The other loops. They and this loop get new connections in rotation.
    func accept(from listeners: [GatewayListener], others: [Mailbox<Message>]) {
        self.listeners = listeners
        self.others = others
        for listener in listeners { listener.loop = self }
    }

    /// Serves until a `stop` message comes.
    func run() {
        do {
            for listener in listeners { try loop.watch(listener.fileDescriptor, for: .readable, handler: listener) }
            while !isStopping {
                try loop.turn(waitingAtMost: .seconds(60))
                for message in mailbox.take() { handle(message) }
                // Sending an answer may also take bytes out of a delay line, and these may bring further pushes to
                // hold.
                while !held.isEmpty { takeHeld() }
            }
        } catch {
            logger.error("gateway thread ended", metadata: .simulator([.error: "\(error)"]))
        }
        for connection in Array(connections.values) { connection.close() }
        for listener in listeners { loop.unwatch(listener.fileDescriptor) }
        listeners = []
    }

    /// Makes the protocol of a connection whose handshake is done.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - facts: What is known of it.
    /// - Returns: The protocol.
    /// - Throws: ``SimulatorError`` where HTTP/2 cannot be set up.
    func makeSession(
        for connection: GatewayConnection, _ facts: ConnectionFacts
    ) throws(SimulatorError) -> any GatewayProtocol {
        if role != .pushes { return try BroadcastChannelSession(facts, service: service, role: role) }
        if service.configuration.acceptsAll {
            return ThinHTTP2Session(counters: service.counters, record: facts.record)
        }
        return try PushSession(facts, service: service, carrier: connection)
    }

    /// Forgets a closed connection.
    ///
    /// - Parameter connection: The connection.
    func connectionClosed(_ connection: GatewayConnection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        service.connections.remove(number: connection.number)
        service.counters.connectionClosed()
    }

    /// Holds a push until the end of the turn, so that all pushes of a turn are written at once.
    ///
    /// - Parameters:
    ///   - arrival: The push.
    ///   - connection: Where it came from.
    ///   - completion: Is told whether it was taken to its device.
    func hold(_ arrival: Arrival, from connection: GatewayConnection, completion: @escaping (Bool) -> Void) {
        held.append(Held(arrival: arrival, connection: connection, completion: completion))
    }

    private func takeHeld() {
        let batch = held
        held = []
        let isTaken = service.devices?.storage.take(batch.map(\.arrival)) ?? true
        for push in batch { push.completion(isTaken) }
        for (index, push) in batch.enumerated() where index == 0 || batch[index - 1].connection !== push.connection {
            push.connection.socketIsReady(.writable, now: .now())
        }
    }

    private func handle(_ message: Message) {
        switch message {
        case .stop: isStopping = true
        case .adopt(let box):
            if let socket = box.take() { serve(socket) }
        case .attend:
            for connection in Array(connections.values) { connection.attend() }
        }
    }

    /// Gives an accepted socket to the next loop in rotation.
    ///
    /// - Parameter socket: The socket.
    func place(_ socket: consuming Socket) {
        let turn = nextOther
        nextOther = (nextOther + 1) % (others.count + 1)
        if turn == 0 {
            serve(socket)
        } else {
            others[turn - 1].post(.adopt(SocketBox(socket)))
        }
    }

    private func serve(_ socket: consuming Socket) {
        guard connections.count < Self.connectionLimit else { return }
        var facts = ConnectionFacts(number: 0)
        if !service.configuration.acceptsAll {
            facts.address = socket.localAddress?.host ?? ""
            (facts.plan, facts.limits) = service.plan(
                for: facts.address, client: socket.remoteAddress?.host ?? "")
            // Counted as a connection, so that a test can see that its client came.
            if facts.plan.isRefused {
                _ = service.counters.connectionOpened()
                service.counters.connectionClosed()
                return
            }
        } else {
            facts.plan.roundTrip = service.configuration.roundTrip
        }
        do {
            let number = service.counters.connectionOpened()
            facts.number = number
            facts.record = ConnectionRecord(view(of: socket, facts))
            let connection: GatewayConnection
            do {
                connection = try GatewayConnection(socket, facts: facts, gateway: self)
            } catch {
                service.counters.connectionClosed()
                throw error
            }
            connections[number] = connection
            service.connections.add(facts.record, number: number)
        } catch {
            logger.warning("cannot serve a connection", metadata: .simulator([.error: "\(error)"]))
        }
    }

    private func view(of socket: borrowing Socket, _ facts: ConnectionFacts) -> ConnectionView {
        ConnectionView(
            number: facts.number, role: role.rawValue, client: socket.remoteAddress?.description ?? "",
            gateway: socket.localAddress?.description ?? "", since: service.clock.now,
            roundTripMs: facts.plan.roundTrip)
    }
}
