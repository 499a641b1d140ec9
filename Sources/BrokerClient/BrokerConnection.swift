package import EventLoop
package import RabbitMQ
import TLS

/// One connection to a broker: a socket, TLS where the endpoint asks for it, and an AMQP session. Nothing in it waits.
///
/// Its owner waits until `fileDescriptor` is ready for `interest`, or until `nextDue`, and calls `advance`; after it
/// used the session it calls `flush`, once per turn, so that a turn's messages leave in one write. After any error the
/// connection must be dropped, which closes its socket. One thread at a time.
package final class BrokerConnection {
    /// What a connection is at.
    package enum Stage: Sendable {
        /// The TCP connection is being made.
        case connecting
        /// The TLS handshake is under way.
        case securing
        /// The broker is being logged in to.
        case loggingIn
        /// Channels can be opened.
        case open
    }

    /// How many bytes are read in one turn at most: with ordinary messages some hundred deliveries. What is left is
    /// announced again in the next turn.
    private static let readSize = 128 << 10
    /// How many bytes are encrypted at once: full records, and no more than the system takes in one write.
    private static let encryptionSize = 128 << 10
    /// How often it is read once nothing can be written any more, at most: what the system keeps of a connection that
    /// ended is a few megabytes.
    private static let mostLastReads = 64

    /// The AMQP session.
    package let session: AMQPSession
    /// What it is at.
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
    ///   - consumes: Whether messages are delivered on it, which may exceed the negotiated size of a frame.
    ///   - patience: How long each step may take while the broker is silent: to connect, to agree to TLS, to log in;
    ///     the endpoint's `connectionTimeout` by default. Once the broker has said anything, each step may take
    ///     `connectionTimeout`: a broker that many clients log in to at once is slow, and an attempt given up half way
    ///     would cost it the same work again.
    ///   - now: The time.
    /// - Throws: `unreachable` if the system refuses.
    package init(
        _ target: BrokerTarget, clientName: String, clientVersion: String = "", bodyLimit: Int, consumes: Bool,
        patience: Duration? = nil, now: MonotonicTime
    ) throws(AMQPError) {
        do throws(EventLoopError) {
            socket = try Socket.startConnecting(to: target.address)
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

    /// The socket, for watching; it stays this connection's.
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
    /// - Throws: Anything; the connection must be dropped then.
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

    /// Writes what waits to be sent, as far as the system takes it.
    ///
    /// Where the connection turns out to be lost, what the broker said before is read first: its reason is the error.
    ///
    /// - Parameters:
    ///   - delegate: What to report to in that case.
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
            // One portion after the other, so that what waits stays in the session, where it holds back its owner.
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
            // What was not taken now is taken when the socket is writable: to try again at once would be in vain.
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
            // The alert tells the broker why; whether it arrives matters to nobody here.
            try? sendCiphertext()
            throw AMQPError(.tls, target.text(of: error))
        }
        enter(.loggingIn, now: now)
    }

    private func restoreUserTimeout() {
        wasBlocked = session.isBlocked
        // The kernel gives up on a peer that takes nothing for two heartbeats. A long alarm is not a dead peer: without
        // the exception the kernel would end the connection in the middle of it.
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

    /// Takes what was read into the buffer.
    private func take(_ count: Int, _ delegate: any AMQPSessionDelegate, now: MonotonicTime) throws(AMQPError) {
        if !hasAnswered { answered(now: now) }
        guard let tls else { return try receive(count, delegate, now: now) }
        tls.receive(buffer.span.extracting(0..<count))
        if stage == .securing { try shakeHands(now: now) }
        while stage != .securing, let count = try decrypt(tls) { try receive(count, delegate, now: now) }
    }

    /// Reads what arrived before the connection was lost; nil where the broker gave no reason.
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

    /// Reads plaintext into the buffer, which the ciphertext has left; nil when more ciphertext is needed.
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
            // The answer to a close, as far as it goes.
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
            // With TLS 1.3 a server refuses a client without certificate only after the handshake, and its reason is
            // lost where the end of the connection overtakes it.
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
    /// The host and the address dialled.
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
