package import EventLoop
import Synchronization

/// A relay on this machine that holds all bytes back for half a round trip each way: distance for tests.
///
/// It works on a thread of its own, so that the loop under test pays nothing for it. Everything it is given it takes,
/// as a long cable would; only the peers' own windows limit what is under way.
package final class DelayLine: Sendable {
    /// Where clients connect.
    package let port: Int
    private let thread: LoopThread
    private let mailbox: Mailbox<Bool>

    /// Starts the relay.
    ///
    /// - Parameters:
    ///   - port: where the server listens, on 127.0.0.1.
    ///   - roundTrip: how long bytes take there and back in all.
    /// - Throws: `EventLoopError` when the system has no socket or thread left.
    package init(to port: Int, roundTrip: Duration) throws(EventLoopError) {
        let relay = try DelayRelay(target: port, half: roundTrip / 2)
        self.port = relay.port
        let mailbox = relay.mailbox
        self.mailbox = mailbox
        thread = try LoopThread.start(name: "delay-line") { relay.run() }
    }

    deinit {
        mailbox.post(true)
        thread.join()
    }
}

/// The relay's thread: accepts, and moves bytes when their time has come.
private final class DelayRelay: ReadinessHandler {
    let loop: EventLoop
    let port: Int
    let mailbox: Mailbox<Bool>
    private let listener: Listener
    private let target: Int
    private let half: Duration
    private var connections: [DelayedConnection] = []

    init(target: Int, half: Duration) throws(EventLoopError) {
        loop = try EventLoop()
        mailbox = Mailbox(waking: loop.wakeup)
        listener = try Listener(address: .loopback(port: 0))
        port = listener.address.port
        self.target = target
        self.half = half
        try loop.watch(listener.fileDescriptor, for: .readable, handler: self)
    }

    func run() {
        while mailbox.take().isEmpty {
            guard (try? loop.turn(waitingAtMost: .seconds(1))) != nil else { return }
        }
        for connection in connections { connection.close() }
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        while let client = try? listener.accept() {
            guard let server = try? Socket.connect(to: .loopback(port: target), timeout: .seconds(5)),
                let connection = try? DelayedConnection(client, server, loop: loop, half: half)
            else { continue }
            connections.append(connection)
        }
    }
}

/// Two sockets and what is on its way between them.
private final class DelayedConnection {
    private let client: DelayedEnd
    private let server: DelayedEnd

    init(_ client: consuming Socket, _ server: consuming Socket, loop: EventLoop, half: Duration) throws {
        self.client = try DelayedEnd(client, loop: loop, half: half)
        self.server = try DelayedEnd(server, loop: loop, half: half)
        self.client.other = self.server
        self.server.other = self.client
    }

    func close() {
        client.close()
        server.close()
    }
}

/// One of the two sockets: what it reads leaves by the other after a while.
private final class DelayedEnd: ReadinessHandler {
    unowned var other: DelayedEnd?
    private let socket: Socket
    private let loop: EventLoop
    private let half: Duration
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// What is to leave by this socket and was not taken yet.
    private var outgoing: [UInt8] = []
    private var isReading = true
    private var isClosed = false

    init(_ socket: consuming Socket, loop: EventLoop, half: Duration) throws {
        self.socket = socket
        self.loop = loop
        self.half = half
        try loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard !isClosed else { return }
        if !outgoing.isEmpty { write() }
        while !isClosed, isReading {
            switch try? socket.read(into: &buffer) {
            case .bytes(let count)?: deliver(Array(buffer.prefix(count)), at: now)
            case .wouldBlock?: return
            case .closed?, nil:
                // The end travels like everything else.
                deliver([], at: now)
                return stopReading()
            }
        }
    }

    private func deliver(_ bytes: [UInt8], at now: MonotonicTime) {
        let other = other
        _ = loop.schedule(at: now.adding(half)) { _ in other?.arrive(bytes) }
    }

    /// Bytes come out of the line; none means that nothing will follow.
    private func arrive(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        guard !bytes.isEmpty else { return close() }
        outgoing += bytes
        write()
    }

    private func write() {
        while !outgoing.isEmpty, !isClosed {
            let bytes = outgoing
            guard let taken = try? socket.write(bytes.span) else { return close() }
            outgoing.removeFirst(taken)
            if taken == 0 { return wait(for: isReading ? [.readable, .writable] : .writable) }
        }
        if isReading { wait(for: .readable) }
    }

    private func wait(for readiness: Readiness) {
        loop.unwatch(socket.fileDescriptor)
        try? loop.watch(socket.fileDescriptor, for: readiness, handler: self)
    }

    private func stopReading() {
        isReading = false
        if outgoing.isEmpty { loop.unwatch(socket.fileDescriptor) } else { wait(for: .writable) }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        loop.unwatch(socket.fileDescriptor)
        SocketOptions.shutdown(socket.fileDescriptor)
    }
}
