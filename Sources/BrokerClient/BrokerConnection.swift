package import EventLoop
package import RabbitMQ
import TLS

/// One connection to a broker: a socket, TLS where the endpoint asks for it, and an AMQP session. Nothing in it waits.
///
/// Its owner waits until `fileDescriptor` is ready for `interest`, or until `nextDue`, and calls `advance`. After using
/// the session, the owner calls `flush`, once per turn, so that a turn's messages leave in one write. After any error
/// the connection must be dropped, which closes its socket. One thread at a time.
package final class BrokerConnection {
    /// The step that a connection has reached.
    package enum Stage: Sendable {
        /// The TCP connection is being made.
        case connecting
        /// The TLS handshake is under way.
        case securing
        /// The login is under way.
        case loggingIn
        /// Channels can be opened.
        case open
    }

    /// The most bytes that are read in one turn: some hundred deliveries of ordinary messages. The socket is ready
    /// again in the next turn if more bytes wait.
    private static let readSize = 128 << 10
    /// How many bytes are encrypted at once: eight full records, about as many bytes as the system takes in one write.
    private static let encryptionSize = 128 << 10
    /// The most reads once nothing can be written any more. They read up to 8 MiB; the system keeps a few megabytes of
    /// a connection that ended.
    private static let mostLastReads = 64

    /// The AMQP session.
    package let session: AMQPSession
    /// The step it has reached.
    package private(set) var stage = Stage.connecting
    private let target: BrokerTarget
    private let socket: Socket
    private var tls: TLSSession?
    private var patience: Duration
    /// Whether the broker has said anything.
    private var hasAnswered = false
    private var deadline: MonotonicTime
    private var buffer = [UInt8](repeating: 0, count: readSize)
    /// Whether the system takes no more bytes until the socket is writable.
    private var isWriteBlocked = false
    /// Whether the broker was known to read nothing when the socket's options were set last.
    private var wasBlocked = false

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - target: Where to, and how to log in.
    ///   - clientName: The name operators see in the broker's list of connections.
    ///   - clientVersion: The version they see.
    ///   - bodyLimit: The largest body that is buffered, in bytes.
    ///   - consumes: Whether messages are delivered on it. Their frames may exceed the negotiated size.
    ///   - patience: How long each step may take while the broker is silent: TCP, TLS, login. By default the endpoint's
    ///     `connectionTimeout`. Once the broker has sent anything, each step may take at least `connectionTimeout`: a
    ///     broker is slow while many clients log in at once, and a second attempt would cost it the same work again.
    ///   - now: The time.
    /// - Throws: `unreachable` if the system refuses.
    package init(
        _ target: BrokerTarget, clientName: String, clientVersion: String = "", bodyLimit: Int, consumes: Bool,
        patience: Duration? = nil, now: MonotonicTime
    ) throws(AMQPError) {
        do throws(EventLoopError) {
            socket = try target.dial(target.address)
        } catch {
            throw AMQPError(.unreachable, "cannot connect to \(target.text): \(error.message)")
        }
        self.target = target
        self.patience = patience ?? target.endpoint.connectionTimeout
        deadline = now.adding(self.patience)
        session = AMQPSession(
            target.endpoint, clientName: clientName, clientVersion: clientVersion, bodyLimit: bodyLimit,
            receiveLimit: consumes ? AMQPSession.consumingReceiveLimit : 0, now: now)
    }

    /// The socket, for watching; the connection keeps it and closes it.
    package var fileDescriptor: Int32 { socket.fileDescriptor }

    /// What to wait for on the socket.
    package var interest: Readiness {
        if stage == .connecting { return .writable }
        return isWriteBlocked ? [.readable, .writable] : .readable
    }

    /// When `advance` has something to do although nothing became ready.
    ///
    /// - Parameter now: The time.
    /// - Returns: Nil for never.
    package func nextDue(now: MonotonicTime) -> MonotonicTime? {
        stage == .open ? session.nextTick(now: now) : deadline
    }

    // MARK: Turns

    /// Goes on as far as that is possible without waiting: connects, reads and reports, sends heartbeats, writes.
    ///
    /// - Parameters:
    ///   - readiness: What the socket is ready for; empty where only time has passed.
    ///   - delegate: What to report to.
    ///   - now: The time.
    /// - Throws: Any `AMQPError`; the connection must be dropped then.
    package func advance(
        _ readiness: Readiness, delegate: any AMQPSessionDelegate, now: MonotonicTime
    ) throws(AMQPError) {
        if !readiness.isEmpty, stage == .connecting { try finishConnecting(now: now) }
        if readiness.contains(.writable) { isWriteBlocked = false }
        if !readiness.isDisjoint(with: [.readable, .hangUp]), stage != .connecting {
            try read(delegate, now: now)
        }
        switch stage {
        case .open: try session.tick(now: now)
        case .connecting, .securing, .loggingIn: if now >= deadline { throw timeout }
        }
        if session.isBlocked != wasBlocked { restoreUserTimeout() }
        try flush(delegate, now: now)
    }

    /// Writes the bytes that wait to be sent, as far as the system takes them.
    ///
    /// If the connection turns out to be lost, the broker's last bytes are read first. A reason in them becomes the
    /// error.
    ///
    /// - Parameters:
    ///   - delegate: What to report to if the connection is lost.
    ///   - now: The time.
    /// - Throws: An error that ends the connection.
    package func flush(_ delegate: any AMQPSessionDelegate, now: MonotonicTime) throws(AMQPError) {
        do throws(AMQPError) {
            try write(now: now)
        } catch {
            throw lastWords(delegate, now: now) ?? error
        }
    }

    private func write(now: MonotonicTime) throws(AMQPError) {
        guard !isWriteBlocked else { return }
        switch stage {
        case .connecting: return
        case .securing: try sendCiphertext()
        case .loggingIn, .open: try send(now: now)
        }
    }

    /// Whether something waits to be sent.
    package var hasPendingOutput: Bool { session.pendingOutput > 0 || (tls?.pendingCiphertext ?? 0) > 0 }

    private func send(now: MonotonicTime) throws(AMQPError) {
        guard let tls else {
            while session.pendingOutput > 0, !isWriteBlocked {
                try session.withPendingOutput(now: now) { bytes throws(AMQPError) in try write(bytes) }
            }
            return
        }
        while !isWriteBlocked {
            // Encrypt one portion at a time. The rest stays in the session, whose full output holds back the owner.
            if tls.pendingCiphertext == 0 {
                guard session.pendingOutput > 0 else { return }
                try session.withPendingOutput(now: now) { bytes throws(AMQPError) in try encrypt(bytes, tls) }
            }
            try sendCiphertext()
        }
    }

    private func encrypt(_ bytes: Span<UInt8>, _ tls: TLSSession) throws(AMQPError) -> Int {
        let portion = min(bytes.count, Self.encryptionSize)
        do throws(TLSError) {
            try tls.write(bytes.extracting(0..<portion))
        } catch {
            throw lost(error.message)
        }
        return portion
    }

    private func sendCiphertext() throws(AMQPError) {
        guard let tls else { return }
        while tls.pendingCiphertext > 0, !isWriteBlocked {
            try tls.withPendingCiphertext { bytes throws(AMQPError) in try write(bytes) }
        }
    }

    private func write(_ bytes: Span<UInt8>) throws(AMQPError) -> Int {
        do throws(EventLoopError) {
            let count = try socket.write(bytes)
            // The system takes the rest only when the socket is writable again. Another try now would fail.
            if count < bytes.count { isWriteBlocked = true }
            return count
        } catch {
            throw lost(error.message)
        }
    }

    // MARK: Steps on the way

    private func finishConnecting(now: MonotonicTime) throws(AMQPError) {
        do throws(EventLoopError) {
            try socket.finishConnecting(to: target.address)
        } catch {
            throw lost(error.message)
        }
        let heartbeat = target.endpoint.heartbeat
        SocketOptions.setKeepalive(fileDescriptor, idle: heartbeat, interval: max(1, heartbeat / 3), count: 3)
        guard let context = target.tls else { return enter(.loggingIn, now: now) }
        do throws(TLSError) {
            tls = try TLSSession(client: context, serverName: target.endpoint.serverName ?? target.endpoint.host)
        } catch {
            throw AMQPError(.tls, error.message)
        }
        enter(.securing, now: now)
        try shakeHands(now: now)
    }

    private func enter(_ next: Stage, now: MonotonicTime) {
        stage = next
        deadline = now.adding(patience)
    }

    private func answered(now: MonotonicTime) {
        hasAnswered = true
        patience = max(patience, target.endpoint.connectionTimeout)
        deadline = now.adding(patience)
    }

    private func shakeHands(now: MonotonicTime) throws(AMQPError) {
        guard let tls else { return }
        do throws(TLSError) {
            guard try tls.handshake() else { return }
        } catch {
            // The alert tells the broker why. A failure to send it does not matter.
            try? sendCiphertext()
            throw AMQPError(.tls, target.text(of: error))
        }
        enter(.loggingIn, now: now)
    }

    private func restoreUserTimeout() {
        wasBlocked = session.isBlocked
        // The kernel ends a connection whose peer takes nothing for two heartbeats. During an alarm the broker takes
        // nothing, but it is not dead: without this exception the kernel would end the connection.
        let milliseconds = wasBlocked ? 0 : session.heartbeat * 2000
        SocketOptions.setUserTimeout(fileDescriptor, milliseconds: milliseconds)
    }

    // MARK: Reading

    private func read(_ delegate: any AMQPSessionDelegate, now: MonotonicTime) throws(AMQPError) {
        let result: Socket.ReadResult
        do throws(EventLoopError) {
            result = try socket.read(into: &buffer)
        } catch {
            throw lost(error.message)
        }
        switch result {
        case .wouldBlock: return
        case .closed: throw lost("the broker closed it")
        case .bytes(let count): try take(count, delegate, now: now)
        }
    }

    /// Takes the bytes that were read into the buffer.
    private func take(_ count: Int, _ delegate: any AMQPSessionDelegate, now: MonotonicTime) throws(AMQPError) {
        if !hasAnswered { answered(now: now) }
        guard let tls else { return try receive(count, delegate, now: now) }
        tls.receive(buffer.span.extracting(0..<count))
        if stage == .securing { try shakeHands(now: now) }
        while stage != .securing, let count = try decrypt(tls) { try receive(count, delegate, now: now) }
    }

    /// Reads the bytes that arrived before the connection was lost. Nil if the broker gave no reason.
    private func lastWords(_ delegate: any AMQPSessionDelegate, now: MonotonicTime) -> AMQPError? {
        for _ in 0..<Self.mostLastReads {
            guard case .bytes(let count)? = try? socket.read(into: &buffer) else { return nil }
            do throws(AMQPError) {
                try take(count, delegate, now: now)
            } catch {
                return error
            }
        }
        return nil
    }

    /// Decrypts into the buffer, whose ciphertext the TLS session has copied. Nil when more ciphertext is needed.
    private func decrypt(_ tls: TLSSession) throws(AMQPError) -> Int? {
        let result: TLSSession.ReadResult
        do throws(TLSError) {
            result = try tls.read(into: &buffer)
        } catch {
            throw AMQPError(.tls, target.text(of: error))
        }
        switch result {
        case .bytes(let count): return count
        case .needsInput: return nil
        case .closed: throw lost("the broker closed it")
        }
    }

    private func receive(
        _ count: Int, _ delegate: any AMQPSessionDelegate, now: MonotonicTime
    ) throws(AMQPError) {
        do throws(AMQPError) {
            try session.receive(buffer.span.extracting(0..<count), delegate: delegate, now: now)
        } catch {
            // The output may hold the answer to a close. It is sent as far as the system takes it.
            try? write(now: now)
            throw error
        }
        if stage == .loggingIn, session.isOpen {
            stage = .open
            restoreUserTimeout()
        }
    }

    // MARK: Errors

    private func lost(_ why: String) -> AMQPError {
        switch stage {
        case .connecting: AMQPError(.unreachable, "cannot connect to \(target.text): \(why)")
        case .securing: AMQPError(.tls, "the TLS handshake with \(target.text) failed: \(why)")
        case .loggingIn where tls != nil && target.endpoint.tls.certFile == nil:
            // With TLS 1.3 the client has finished the handshake before the server can refuse a missing certificate.
            // The reason is lost if the connection ends before the alert is read.
            AMQPError(
                .tls, "TLS failed during the login of \(session.loginText): \(why); it may want a client certificate")
        case .loggingIn:
            AMQPError(
                .connectionLost,
                "the connection was lost during the login of \(session.loginText): \(why); is this an AMQP 0-9-1 port?")
        case .open: AMQPError(.connectionLost, "the connection to \(target.text) is lost: \(why)")
        }
    }

    private var timeout: AMQPError {
        let what =
            switch stage {
            case .connecting, .open: "no connection to \(target.text)"
            case .securing: "no TLS connection to \(target.text)"
            case .loggingIn: "no answer to the login of \(session.loginText)"
            }
        return AMQPError(.timeout, "\(what) within \(patience)")
    }
}

extension BrokerTarget {
    /// The host and the address, for messages.
    fileprivate var text: String { "\(endpoint.host) (\(address))" }

    /// Why TLS failed with it.
    fileprivate func text(of error: TLSError) -> String {
        let verification: Set<TLSError.Code> = [.certificateUntrusted, .certificateExpired, .hostNameMismatch]
        guard verification.contains(error.code) else {
            return "the TLS handshake with \(text) failed: \(error.message)"
        }
        let isPrivate = error.code == .certificateUntrusted && endpoint.tls.caFile == nil
        let hint = isPrivate ? "; set the authority's file if it is a private one" : ""
        return "the certificate of \(text) is not acceptable: \(error.message)\(hint)"
    }
}
