internal import EventLoop
internal import Logging
internal import TLS

/// Buffers that the connections of one loop share, as only one of them is at work at a time.
final class GatewayBuffers {
    /// What a read from a socket fills.
    var ciphertext = [UInt8](repeating: 0, count: 64 << 10)
    /// What a read from TLS fills.
    var plaintext = [UInt8](repeating: 0, count: 32 << 10)
    /// What a protocol has to send.
    var output: [UInt8] = []

    /// Makes the buffers.
    init() { output.reserveCapacity(64 << 10) }
}

/// One client's connection: socket, TLS and the protocol above. Lives on its loop's thread.
final class GatewayConnection: ReadinessHandler, GatewayCarrier {
    /// How long a client may take for its TLS handshake, in milliseconds.
    static let handshakeLimit = 10_000

    /// How much may wait to be sent before nothing more is read, in bytes: a client that does not read gets no more.
    static let unsentLimit = 256 << 10

    /// How many reads a connection may do before others have their turn.
    static let readsPerTurn = 4

    /// Which connection, counted from 1.
    let number: Int

    private let socket: Socket
    private let tls: TLSSession
    private let gateway: GatewayLoop
    private var session: (any GatewayProtocol)?
    private var interest: Readiness = .readable
    private var isClosed = false

    /// Takes a socket over and starts to listen to it.
    ///
    /// - Parameters:
    ///   - socket: An accepted socket.
    ///   - number: Which connection.
    ///   - gateway: The loop it lives on.
    /// - Throws: Any error of TLS or the loop.
    init(_ socket: consuming Socket, number: Int, gateway: GatewayLoop) throws {
        self.number = number
        self.gateway = gateway
        self.socket = socket
        tls = try TLSSession(server: gateway.tls)
        try gateway.loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
        later(milliseconds: Self.handshakeLimit) { [weak self] in
            if self?.session == nil { self?.close() }
        }
    }

    /// Reads, handles and answers what the socket has.
    ///
    /// - Parameters:
    ///   - readiness: What the socket is ready for.
    ///   - now: The time of the loop's turn.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard !isClosed else { return }
        do {
            if readiness != .writable { try read() }
            if !isClosed { try flush() }
        } catch {
            gateway.logger.debug("connection failed", metadata: ["connection": "\(number)", "error": "\(error)"])
            // What TLS or HTTP/2 wants to say about the failure is worth a try.
            if !isClosed { try? flush() }
            close()
        }
    }

    /// Runs an action later and sends what it caused.
    ///
    /// - Parameters:
    ///   - milliseconds: How much later.
    ///   - action: What to run.
    func later(milliseconds: Int, _ action: @escaping () -> Void) {
        let time = MonotonicTime.now().adding(nanoseconds: UInt64(milliseconds) * 1_000_000)
        _ = gateway.loop.schedule(at: time) { [weak self] now in
            guard let self, !self.isClosed else { return }
            action()
            self.socketIsReady(.writable, now: now)
        }
    }

    /// Closes the connection without a word.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        gateway.loop.unwatch(socket.fileDescriptor)
        SocketOptions.shutdown(socket.fileDescriptor)
        gateway.connectionClosed(self)
    }

    private func read() throws {
        for _ in 0..<Self.readsPerTurn where !isClosed {
            switch try socket.read(into: &gateway.buffers.ciphertext) {
            case .bytes(let count):
                try decrypt(gateway.buffers.ciphertext, count: count)
                if count < gateway.buffers.ciphertext.count { return }
            case .wouldBlock:
                return
            case .closed:
                close()
            }
        }
    }

    private func decrypt(_ bytes: [UInt8], count: Int) throws {
        tls.receive(bytes.span.extracting(0..<count))
        if session == nil {
            guard try tls.handshake() else { return }
            guard tls.negotiatedProtocol ?? "h2" == "h2" else {
                close()
                return
            }
            session = try gateway.makeSession(for: self)
        }
        while !isClosed {
            switch try tls.read(into: &gateway.buffers.plaintext) {
            case .bytes(let count): try handle(gateway.buffers.plaintext, count: count)
            case .needsInput: return
            case .closed:
                close()
            }
        }
    }

    private func handle(_ bytes: [UInt8], count: Int) throws {
        try session?.receive(bytes.span.extracting(0..<count))
    }

    private func flush() throws {
        var isBlocked = false
        repeat {
            try encrypt()
            isBlocked = try !drain()
        } while !isBlocked && session?.wantsToSend ?? false
        if session?.isFinished ?? false, tls.pendingCiphertext == 0 {
            tls.closeNotify()
            _ = try drain()
            close()
            return
        }
        var wanted: Readiness = isBlocked ? [.readable, .writable] : .readable
        if tls.pendingCiphertext > Self.unsentLimit { wanted = .writable }
        if wanted != interest {
            try gateway.loop.change(socket.fileDescriptor, to: wanted)
            interest = wanted
        }
    }

    /// Writes what is encrypted; tells whether the socket took all of it.
    private func drain() throws -> Bool {
        while tls.pendingCiphertext > 0 {
            var isBlocked = false
            try tls.withPendingCiphertext { bytes in
                let taken = try socket.write(bytes)
                isBlocked = taken < bytes.count
                return taken
            }
            if isBlocked { return false }
        }
        return true
    }

    private func encrypt() throws {
        guard let session else { return }
        while session.wantsToSend, tls.pendingCiphertext < Self.unsentLimit {
            gateway.buffers.output.removeAll(keepingCapacity: true)
            try session.send(into: &gateway.buffers.output, upTo: 16 << 10)
            if gateway.buffers.output.isEmpty { return }
            try seal(gateway.buffers.output)
        }
    }

    private func seal(_ bytes: [UInt8]) throws {
        try tls.write(bytes.span)
    }
}
