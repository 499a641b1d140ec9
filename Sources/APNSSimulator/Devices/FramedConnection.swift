import EventLoop
import TLS

/// Either end of a connection between a device and the simulator: frames over TLS over a socket. Lives on one loop.
final class FramedConnection: ReadinessHandler {
    /// How long the handshake may take, in milliseconds.
    static let handshakeLimit: UInt64 = 10_000
    /// How many bytes may wait for a peer that does not read. With more, the connection ends.
    static let unsentLimit = 4 << 20
    /// How many reads a connection may do before other connections have their turn.
    static let readsPerTurn = 4

    /// The number that the owner has given the connection.
    let number: Int

    private let socket: Socket
    private let tls: TLSSession
    private let loop: EventLoop
    private weak var owner: (any FramedConnectionOwner)?
    private var reader = DeviceFrameReader()
    private var buffer = [UInt8](repeating: 0, count: 32 << 10)
    private var interest: Readiness = .readable
    private var isOpen = false
    private var isClosed = false

    /// Takes a connected socket over and begins the handshake.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - tls: A new session.
    ///   - number: The number of the connection.
    ///   - loop: The loop of the calling thread.
    ///   - owner: Is told what happens; not retained.
    /// - Throws: Any error of TLS or the loop.
    init(
        _ socket: consuming Socket, tls: TLSSession, number: Int, loop: EventLoop, owner: any FramedConnectionOwner
    ) throws {
        self.socket = socket
        self.tls = tls
        self.number = number
        self.loop = loop
        self.owner = owner
        try loop.watch(self.socket.fileDescriptor, for: [.readable, .writable], handler: self)
        interest = [.readable, .writable]
        _ = loop.schedule(at: .now().adding(nanoseconds: Self.handshakeLimit * 1_000_000)) { [weak self] _ in
            guard let self, !self.isOpen else { return }
            self.close(reason: "the TLS handshake took too long")
        }
    }

    /// The subject of the peer's certificate; nil where it showed none.
    var peerSubject: String? { tls.peerCertificateSubject }

    /// Sends a frame. Nothing happens before the handshake is done and after the connection is over.
    ///
    /// - Parameter frame: The frame.
    func send(_ frame: DeviceFrame) {
        guard isOpen, !isClosed else { return }
        do {
            let bytes = frame.wire
            try tls.write(bytes.span)
            try flush()
            if tls.pendingCiphertext > Self.unsentLimit { close(reason: "the peer does not read") }
        } catch {
            close(reason: "\(error)")
        }
    }

    /// Ends the connection.
    ///
    /// - Parameters:
    ///   - reason: Why, for a person.
    ///   - isRefused: Whether the peer refused.
    func close(reason: String, isRefused: Bool = false) {
        guard !isClosed else { return }
        isClosed = true
        tls.closeNotify()
        // Tries once to send the last bytes of TLS, such as `close_notify`.
        _ = try? drain()
        loop.unwatch(socket.fileDescriptor)
        SocketOptions.shutdown(socket.fileDescriptor)
        owner?.closed(self, reason: reason, isRefused: isRefused)
    }

    /// Reads and writes what the socket allows.
    ///
    /// - Parameters:
    ///   - readiness: What the socket is ready for.
    ///   - now: Not looked at.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard !isClosed else { return }
        do {
            if !isOpen { try handshake() }
            if readiness != .writable { try read() }
            if !isClosed { try flush() }
        } catch {
            _ = try? drain()
            close(reason: "\(error)", isRefused: Self.isRefusal(error))
        }
    }

    /// Whether the peer ended TLS with an alert, above all because it does not know the certificate.
    private static func isRefusal(_ error: any Error) -> Bool {
        guard let code = (error as? TLSError)?.code else { return false }
        return code == .certificateRefused || code == .peerAlert
    }

    private func handshake() throws {
        guard !isOpen, try tls.handshake() else { return }
        isOpen = true
        owner?.opened(self)
    }

    private func read() throws {
        for _ in 0..<Self.readsPerTurn where !isClosed {
            switch try socket.read(into: &buffer) {
            case .wouldBlock: return
            case .closed: return close(reason: "the peer closed the connection")
            case .bytes(let count):
                tls.receive(buffer.span.extracting(0..<count))
                try handshake()
                if isOpen { try decrypt() }
            }
        }
    }

    private func decrypt() throws {
        while !isClosed {
            switch try tls.read(into: &buffer) {
            case .needsInput: return
            case .closed: return close(reason: "the peer closed the connection")
            case .bytes(let count):
                reader.append(buffer[..<count])
                while !isClosed, let bytes = try reader.next() {
                    owner?.received(try DeviceFrame(bytes: bytes), on: self)
                }
            }
        }
    }

    private func flush() throws {
        let isBlocked = try !drain()
        let wanted: Readiness = isBlocked ? [.readable, .writable] : .readable
        guard wanted != interest else { return }
        try loop.change(socket.fileDescriptor, to: wanted)
        interest = wanted
    }

    /// Writes the encrypted bytes that wait. Returns whether the socket took all of them.
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
}
