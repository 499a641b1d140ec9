import EventLoop
import Logging
import TLS

/// One client's connection: socket, TLS and the protocol above. Lives on its loop's thread.
final class GatewayConnection: ReadinessHandler, GatewayCarrier {
    /// How long a client may take for its TLS handshake, in milliseconds.
    static let handshakeLimit = 10_000

    /// How much may wait to be sent before nothing more is read, in bytes. So a client that does not read its answers
    /// cannot fill the memory.
    static let unsentLimit = 256 << 10

    /// How many reads a connection may do before others have their turn.
    static let readsPerTurn = 4

    /// How long a client may take to end the connection, in milliseconds. The time begins with ``end()`` or after the
    /// gateway's last byte, whichever comes first.
    static let farewellTime = 2_000

    /// How much a client may send after the gateway's last byte, in bytes; it is read and dropped.
    static let farewellBytes = 16 << 20

    /// When a connection that is frozen for no certain time is closed, in milliseconds: its client may be long gone.
    static let frozenLimit = 600_000

    /// Which connection, counted from 1.
    var number: Int { facts.number }

    private let socket: Socket
    private let tls: TLSSession
    private let gateway: GatewayLoop
    private let distance: Distance?
    private var facts: ConnectionFacts
    private var session: (any GatewayProtocol)?
    private var interest: Readiness = .readable
    private var isClosed = false
    private var isFrozen = false
    /// Whether nothing more is to be sent than what waits already.
    private var isEnding = false
    /// How many bytes came after the gateway's last byte; nil before that.
    private var dropped: Int?

    /// Takes a socket over and starts to listen to it.
    ///
    /// - Parameters:
    ///   - socket: An accepted socket.
    ///   - facts: Which connection, and what is done with it.
    ///   - gateway: The loop it lives on.
    /// - Throws: Any error of TLS or the loop.
    init(_ socket: consuming Socket, facts: ConnectionFacts, gateway: GatewayLoop) throws {
        self.facts = facts
        self.gateway = gateway
        self.socket = socket
        distance = facts.plan.roundTrip > 0 ? Distance(roundTrip: facts.plan.roundTrip) : nil
        tls = try TLSSession(server: gateway.certificates.context(facts.plan.certificate))
        try gateway.loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
        if facts.plan.isMute {
            freeze(milliseconds: nil)
            return
        }
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
        guard !isClosed, !isFrozen else { return }
        if dropped != nil { return drop() }
        do {
            if readiness != .writable { try read() }
            if !isClosed { try receiveArrived(now: now) }
            if !isClosed, !isFrozen { try flush(now: now) }
        } catch {
            gateway.logger.debug(
                "connection failed", metadata: .simulator([.connection: "\(number)", .error: "\(error)"]))
            guard !isClosed else { return }
            // TLS or HTTP/2 may have a message about the failure, so the gateway tries to send it.
            end()
            do { try flush(now: now) } catch { close() }
        }
    }

    /// Lets the protocol look at the time and the service, and sends what that caused.
    func attend() {
        session?.attend()
        socketIsReady(.writable, now: .now())
    }

    /// Leaves the socket open but reads and writes nothing.
    ///
    /// - Parameter milliseconds: For how long. Nil: the connection is closed after ``frozenLimit``.
    func freeze(milliseconds: Int?) {
        guard !isFrozen, !isClosed else { return }
        isFrozen = true
        gateway.loop.unwatch(socket.fileDescriptor)
        let time = MonotonicTime.now().adding(nanoseconds: UInt64(milliseconds ?? Self.frozenLimit) * 1_000_000)
        _ = gateway.loop.schedule(at: time) { [weak self] now in
            guard let self, !self.isClosed else { return }
            self.isFrozen = false
            do {
                guard milliseconds != nil else { return self.close() }
                self.interest = .readable
                try self.gateway.loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
                self.socketIsReady(.writable, now: now)
            } catch {
                self.close()
            }
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

    /// Takes a push to its device at the end of the loop's turn, with all others of that turn.
    ///
    /// - Parameters:
    ///   - arrival: The push.
    ///   - completion: Hears whether the push was taken. The answers that it prepares are sent afterwards.
    func take(_ arrival: Arrival, completion: @escaping (Bool) -> Void) {
        gateway.hold(arrival, from: self, completion: completion)
    }

    /// Sends what waits and then nothing more. Closes when the client has ended the connection too.
    ///
    /// If a socket is closed while its client still sends, the kernel resets the connection, and answers that the
    /// client has not read are destroyed. So the gateway reads and drops what still comes, for ``farewellTime`` and up
    /// to ``farewellBytes``.
    func end() {
        guard !isEnding else { return }
        isEnding = true
        later(milliseconds: Self.farewellTime) { [weak self] in self?.close() }
    }

    /// Closes the connection at once: what waits is not sent, and TLS is not ended.
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
                if let distance {
                    distance.inbound.append(Array(gateway.buffers.ciphertext[..<count]), due: distance.due)
                } else {
                    try decrypt(gateway.buffers.ciphertext, count: count)
                }
                if count < gateway.buffers.ciphertext.count || isFrozen { return }
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
            facts.certificate = tls.peerCertificate.map(ClientCertificate.init)
            if let certificate = facts.certificate, certificate.isTrusted {
                facts.record.belongs(to: ConnectionRecord.Trust(certificate))
            }
            session = try gateway.makeSession(for: self, facts)
        }
        while !isClosed, !isFrozen {
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

    /// Handles the bytes that have come all the way from a client far away.
    private func receiveArrived(now: MonotonicTime) throws {
        guard let distance else { return }
        while !isClosed, !isFrozen, let bytes = distance.inbound.take(now: now) {
            try decrypt(bytes, count: bytes.count)
        }
    }

    private func flush(now: MonotonicTime) throws {
        var isBlocked = false
        repeat {
            try encrypt()
            isBlocked = try !drain(now: now)
        } while !isBlocked && session?.wantsToSend ?? false
        if session?.isFinished ?? false { isEnding = true }
        if isEnding, tls.pendingCiphertext == 0 {
            tls.closeNotify()
            isBlocked = try !drain(now: now)
            if !isBlocked, distance?.isEmpty ?? true { return try endSending() }
        }
        var wanted: Readiness = isBlocked ? [.readable, .writable] : .readable
        if tls.pendingCiphertext > Self.unsentLimit || distance?.outbound.isFull ?? false { wanted = .writable }
        // There is no room to read. With nothing to write either, the wake-up of the delay line continues the work.
        if distance?.inbound.isFull ?? false { wanted = isBlocked ? .writable : [] }
        if wanted != interest {
            try gateway.loop.change(socket.fileDescriptor, to: wanted)
            interest = wanted
        }
        wakeUpInTime()
    }

    /// Tells the client that nothing more comes, and reads on until it has ended the connection too.
    private func endSending() throws {
        dropped = 0
        later(milliseconds: Self.farewellTime) { [weak self] in self?.close() }
        SocketOptions.shutdownSending(socket.fileDescriptor)
        if interest != .readable { try gateway.loop.change(socket.fileDescriptor, to: .readable) }
        interest = .readable
    }

    /// Drops what the client still sends.
    private func drop() {
        for _ in 0..<Self.readsPerTurn where !isClosed {
            switch (try? socket.read(into: &gateway.buffers.ciphertext)) ?? .closed {
            case .bytes(let count):
                let total = (dropped ?? 0) + count
                dropped = total
                if total > Self.farewellBytes { close() }
            case .wouldBlock: return
            case .closed: close()
            }
        }
    }

    /// Writes what is encrypted; tells whether the socket took all of it.
    private func drain(now: MonotonicTime) throws -> Bool {
        guard let distance else {
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
        tls.withPendingCiphertext { bytes in
            distance.outbound.append(bytes.withUnsafeBufferPointer { Array($0) }, due: distance.due)
            return bytes.count
        }
        while let bytes = distance.outbound.take(now: now) { distance.arrived += bytes }
        if !distance.arrived.isEmpty {
            let taken = try socket.write(distance.arrived.span)
            distance.arrived.removeFirst(taken)
        }
        return distance.arrived.isEmpty
    }

    /// Comes back when the next bytes have come all the way in either direction.
    private func wakeUpInTime() {
        guard let distance, !isClosed,
            let next = [distance.inbound.nextDue, distance.outbound.nextDue].compactMap({ $0 }).min(),
            distance.wakeUp.map({ next < $0 }) ?? true
        else { return }
        distance.wakeUp = next
        _ = gateway.loop.schedule(at: next) { [weak self] now in
            guard let self, !self.isClosed else { return }
            distance.wakeUp = nil
            self.socketIsReady(.writable, now: now)
        }
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
