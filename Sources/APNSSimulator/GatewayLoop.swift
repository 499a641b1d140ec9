internal import EventLoop
internal import Logging
import Synchronization
internal import TLS

/// What a gateway's thread can be told from outside.
enum GatewayMessage: Sendable {
    /// Close everything and end.
    case stop
    /// Serve this socket.
    case adopt(SocketBox)
}

/// Carries a socket from one thread to another.
final class SocketBox: Sendable {
    private let socket: Mutex<Socket?>

    /// Takes a socket over.
    ///
    /// - Parameter socket: An accepted socket.
    init(_ socket: consuming Socket) { self.socket = Mutex(socket) }

    /// Hands the socket on; only the first call gets it.
    func take() -> Socket? { socket.withLock { $0.take() } }
}

/// One thread of the gateway: an event loop and the connections that live on it. One of them also accepts.
final class GatewayLoop: ReadinessHandler {
    /// How many connections a thread serves; more are closed at once.
    static let connectionLimit = 4096

    /// The event loop, of this thread only.
    let loop: EventLoop

    /// Where other threads leave messages.
    let mailbox: Mailbox<GatewayMessage>

    /// The TLS settings of all connections.
    let tls: TLSContext

    /// What the connections of this thread share.
    let buffers = GatewayBuffers()

    /// Tells of connections that fail.
    let logger: Logger

    private let service: PushService
    private let role: GatewayRole
    private var listener: Listener?
    private var others: [Mailbox<GatewayMessage>] = []
    private var nextOther = 0
    private var connections: [Int: GatewayConnection] = [:]
    private var isStopping = false

    /// Makes a loop; ``run()`` then belongs to its thread.
    ///
    /// - Parameters:
    ///   - service: What all connections share.
    ///   - tls: The TLS settings.
    ///   - logger: Tells of connections that fail.
    ///   - role: What its connections are for.
    /// - Throws: ``SimulatorError`` where the system gives no event loop.
    init(
        service: PushService, tls: TLSContext, logger: Logger, role: GatewayRole = .pushes
    ) throws(SimulatorError) {
        self.service = service
        self.role = role
        self.tls = tls
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
    ///   - listener: Where clients connect.
    ///   - others: The other loops; connections go round.
    func accept(from listener: consuming Listener, others: [Mailbox<GatewayMessage>]) {
        self.listener = consume listener
        self.others = others
    }

    /// Serves until a `stop` message comes.
    func run() {
        do {
            if let descriptor = listener?.fileDescriptor {
                try loop.watch(descriptor, for: .readable, handler: self)
            }
            while !isStopping {
                try loop.turn(waitingAtMost: .seconds(60))
                for message in mailbox.take() { handle(message) }
            }
        } catch {
            logger.error("gateway thread ended", metadata: ["error": "\(error)"])
        }
        for connection in Array(connections.values) { connection.close() }
        if let descriptor = listener?.fileDescriptor { loop.unwatch(descriptor) }
        listener = nil
    }

    /// Accepts the clients that wait.
    ///
    /// - Parameters:
    ///   - readiness: Not looked at.
    ///   - now: The time of the loop's turn.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        do {
            while let socket = try listener?.accept() { place(socket) }
        } catch {
            logger.warning("cannot accept a connection", metadata: ["error": "\(error)"])
        }
    }

    /// Makes the protocol of a connection whose handshake is done.
    ///
    /// - Parameter connection: The connection.
    /// - Returns: The protocol.
    /// - Throws: ``SimulatorError`` where HTTP/2 cannot be set up.
    func makeSession(for connection: GatewayConnection) throws(SimulatorError) -> any GatewayProtocol {
        if role != .pushes { return try ChannelSession(number: connection.number, service: service, role: role) }
        if service.configuration.acceptsAll { return ThinHTTP2Session(counters: service.counters) }
        return try PushSession(number: connection.number, service: service, carrier: connection)
    }

    /// Forgets a closed connection.
    ///
    /// - Parameter connection: The connection.
    func connectionClosed(_ connection: GatewayConnection) {
        if connections.removeValue(forKey: connection.number) != nil { service.counters.connectionClosed() }
    }

    private func handle(_ message: GatewayMessage) {
        switch message {
        case .stop: isStopping = true
        case .adopt(let box):
            if let socket = box.take() { serve(socket) }
        }
    }

    private func place(_ socket: consuming Socket) {
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
        do {
            let number = service.counters.connectionOpened()
            let connection: GatewayConnection
            do {
                connection = try GatewayConnection(socket, number: number, gateway: self)
            } catch {
                service.counters.connectionClosed()
                throw error
            }
            connections[number] = connection
        } catch {
            logger.warning("cannot serve a connection", metadata: ["error": "\(error)"])
        }
    }
}
