import EventLoop
import HTTP2
import PushModel
import TLS

/// One HTTP/2 connection to APNs, on the thread of its lane.
///
/// Frames leave in TLS records of up to 16 KiB. All records of a turn leave in one write.
final class APNSConnection: ReadinessHandler {
    /// Buffers that the connections of one pool share to read and write. Only one connection uses them at a time.
    final class Buffers {
        /// Ciphertext from the socket.
        var ciphertext = [UInt8](repeating: 0, count: 32_768)
        /// Plaintext on its way in.
        var incoming = [UInt8](repeating: 0, count: 16_384)
        /// Plaintext on its way out: one TLS record's worth of frames.
        var outgoing: [UInt8] = []
    }

    /// The most bytes of plaintext in one TLS record.
    private static let recordSize = 16_384
    /// About how many bytes of plaintext are encrypted before the next write to the socket. Ciphertext that the socket
    /// does not take stays in memory.
    private static let burstSize = 262_144
    /// The most reads per event. The loop reports the unread rest again in the next turn, after the other sockets.
    private static let readLimit = 8
    /// The most reads from a server that is gone. The system cannot hold more received bytes than these reads take.
    private static let leftoverLimit = 1_024

    /// The address that the socket is connected to: the server's or, with a proxy, the proxy's.
    let address: SocketAddress
    /// When it was adopted.
    let openedAt: MonotonicTime
    /// Decides what it admits.
    private(set) var machine: APNSConnectionStateMachine
    /// The credential of this connection, for as long as it lives.
    let credential: APNSCredential
    /// The provider token it uses, if any. The pool changes it.
    var token: ConnectionToken
    /// What a connection is to the number of connections that its pool wants.
    enum Standing {
        /// One of them.
        case counted
        /// One of them that gives no sign. Another one may take its place.
        case silent
        /// None of them: it proves a credential, or finishes its requests.
        case apart
    }

    /// What it is to the number of connections that its pool wants. The pool sets this.
    var standing = Standing.counted
    /// Whether it refused a credential that it had accepted. The pool sets this.
    var isDoubted = false
    /// Whether its pool knows that it has answered. The pool sets this.
    var isProved = false

    private let settings: APNSPoolConfiguration
    private let socket: Socket
    private let tls: TLSSession
    private let http2: HTTP2ClientSession
    private let table: StreamTable
    private let loop: EventLoop
    private let buffers: Buffers
    private unowned let owner: any APNSConnectionOwner
    private var head: RequestHead
    private var lastHeard: MonotonicTime
    private var pingSentAt: MonotonicTime?
    /// When the connection is given up if the PING is not answered. Nil without a PING, and for one that only asks a
    /// connection that gives no sign.
    private var pingDue: MonotonicTime?
    /// The shortest time a PING took; nil before the first answer.
    private(set) var roundTrip: Duration?
    /// The largest flow-control window that was seen on the connection, in bytes (RFC 9113, section 6.9.2).
    private(set) var windowSize = 65_535
    /// Whether it was given up because the server fell silent or took no requests.
    private(set) var fellSilent = false
    /// Since when the socket takes nothing; nil while it does.
    private var blockedSince: MonotonicTime?
    /// Since when `machine.isUseless` has been seen true; nil once it was seen false. Begins with the adoption.
    private var uselessSince: MonotonicTime?
    private var isClosed = false
    /// What GOAWAY said, as the reason for the end.
    private var farewell: APNSClientError?
    /// Whether the server sent GOAWAY.
    var isSentAway: Bool { farewell != nil }

    /// Takes over an established connection and sends the first frames on it.
    ///
    /// With a provider token, and always with `isProof`, the connection takes one request at a time at first. This ends
    /// with an answer that does not turn the credential away.
    ///
    /// - Throws: `APNSClientError` when HTTP/2 cannot be started or the socket cannot be watched.
    init(
        _ connection: EstablishedConnection, authority: String, settings: APNSPoolConfiguration,
        credential: APNSCredential, token: ConnectionToken, isProof: Bool, loop: EventLoop, buffers: Buffers,
        owner: any APNSConnectionOwner, now: MonotonicTime
    ) throws(APNSClientError) {
        address = connection.address
        openedAt = now
        uselessSince = now
        lastHeard = now
        self.settings = settings
        self.credential = credential
        self.token = token
        self.loop = loop
        table = StreamTable(loop.time)
        self.buffers = buffers
        self.owner = owner
        machine = APNSConnectionStateMachine(
            usesToken: token.held != nil || isProof, ownLimit: max(1, settings.streamsPerConnection),
            patience: settings.silence)
        head = RequestHead(
            authority: authority, omittedTopic: settings.omitsOnlyTopic ? credential.onlyTopic : nil)
        tls = connection.session
        socket = connection.takeSocket()
        table.now = now
        do throws(HTTP2Error) {
            http2 = try HTTP2ClientSession(
                settings: HTTP2Settings(enablePush: 0), delegate: table)
        } catch {
            throw APNSClientError(.http2, error.message)
        }
        table.owner = self
        do throws(EventLoopError) {
            try loop.watch(socket.fileDescriptor, for: .readable, handler: self)
        } catch {
            throw APNSClientError(.connectionLost, error.message)
        }
    }

    /// Whether SETTINGS have arrived and requests may be submitted.
    var isUsable: Bool { machine.isAdmitting && machine.phase != .settling }

    /// How far our clock is ahead of the server's, in seconds.
    var clockSkew: Int64? { table.clockSkew }

    /// Why it is going away; nil if it is not.
    var reasonOfEnd: APNSClientError? { farewell }

    /// Whether its address should be avoided for a while.
    var isSuspect: Bool { fellSilent || machine.retirement?.isSuspicious == true }

    /// The limit that keeps it from taking a request of the usual length; nil if it takes no requests at all.
    func limit(usualBytes: Int) -> APNSPoolLimit? {
        guard machine.isAdmitting, !machine.isSilent else { return nil }
        guard machine.phase == .open, !machine.isThrottled else { return .server }
        if machine.freeStreams == 0 { return .streams }
        return capacity(usualBytes: usualBytes) == 0 ? .window : .nothing
    }

    /// How many requests of the usual length it takes at once, if no request is open.
    func concurrency(usualBytes: Int) -> Int {
        max(1, min(machine.streamLimit, windowSize / max(1, usualBytes)))
    }

    /// Whether a payload of this length may be submitted now.
    func admits(bytes: Int) -> Bool {
        // Asks for the window only if a stream is free.
        machine.freeStreams > 0 && machine.admits(bytes: bytes, window: http2.unclaimedWindow)
    }

    /// How many requests of the usual length may be submitted now.
    func capacity(usualBytes: Int) -> Int {
        guard machine.freeStreams > 0 else { return 0 }
        return machine.capacity(window: http2.unclaimedWindow, usualBytes: usualBytes)
    }

    /// Submits a request. It leaves with the next flush.
    ///
    /// - Returns: When the connection has something to do next; nil if HTTP/2 takes no more requests.
    func submit(_ job: borrowing Job, index: Int, tag: Int, now: MonotonicTime) -> MonotonicTime? {
        table.now = now
        let due = now + settings.requestTimeout
        let slot = table.take(tag: tag, operation: job.operation, due: due)
        head.build(job, index: index, authorization: token.held)
        do throws(HTTP2Error) {
            let streamID = try http2.submit(head.block, body: job.bytes, range: job.payload, tag: slot)
            table.opened(slot, streamID: streamID)
            machine.submitted(streamID: streamID, now: now)
            return min(due, machine.silenceDue ?? due)
        } catch {
            table.cancel(slot)
            machine.retire(.exhausted)
            return nil
        }
    }

    /// Asks for a replacement. This connection finishes once the replacement is open.
    func requestReplacement() { machine.requestReplacement() }

    /// Takes no more requests, and closes once the open ones have ended.
    func retire() { machine.retire(.requested) }

    /// Another connection is usable.
    func replacementOpened() { machine.replacementOpened() }

    // MARK: Time

    /// When `tick(now:)` has something to do.
    var nextDue: MonotonicTime {
        // A connection that was retired without open requests is closed by the next tick.
        if machine.isDrained { return lastHeard }
        var due = table.nextDue ?? .distantFuture
        due = min(due, pingDue ?? lastHeard + settings.pingInterval)
        if let silenceDue = machine.silenceDue { due = min(due, silenceDue) }
        if let uselessSince { due = min(due, uselessSince + settings.patience) }
        return due
    }

    /// Does what is due: resets silent streams, sends a PING after a long silence, gives up a dead connection.
    func tick(now: MonotonicTime) {
        guard !isClosed else { return }
        table.now = now
        if let pingDue, now >= pingDue {
            fellSilent = true
            return end(APNSClientError(.timedOut, "\(address) did not answer a PING"), now: now)
        }
        watchUse(now: now)
        if let uselessSince, now >= uselessSince + settings.patience {
            fellSilent = true
            return end(APNSClientError(.timedOut, "\(address) takes no request"), now: now)
        }
        var resets = 0
        while let streamID = table.popTimedOut(now: now) {
            http2.reset(streamID: streamID, .cancel)
            resets += 1
        }
        if resets > 0, let blockedSince, now - blockedSince > settings.requestTimeout / 2 {
            fellSilent = true
            return end(APNSClientError(.timedOut, "\(address) reads nothing any more"), now: now)
        }
        let isIdle = now >= lastHeard + settings.pingInterval
        let isToBeAsked = machine.silencePassed(now: now)
        // A silent stream may mean that the whole connection is dead.
        if isIdle || resets > 0 {
            ping(now: now)
        } else if isToBeAsked {
            ask(now: now)
        }
        flush(now: now)
        // A connection with nothing to send may be drained, too.
        settle(now: now)
    }

    /// Notes since when the connection is useless.
    private func watchUse(now: MonotonicTime) {
        uselessSince = machine.isUseless ? uselessSince ?? now : nil
    }

    /// Sends a PING, to learn whether the server still answers and how long a round trip takes. The connection is given
    /// up if no answer comes.
    private func ping(now: MonotonicTime) {
        pingDue = pingDue ?? now + settings.pingTimeout
        ask(now: now)
    }

    /// Sends a PING, to learn whether the server gives a sign.
    private func ask(now: MonotonicTime) {
        guard pingSentAt == nil else { return }
        pingSentAt = now
        http2.ping(now.nanoseconds)
    }

    // MARK: Bytes

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard !isClosed else { return }
        table.now = now
        do {
            let isOpen = try read(now: now)
            try send(now: now)
            if !isOpen { return end(lossError("\(address) closed the connection"), now: now) }
        } catch {
            return end(lossError(Self.text(of: error), Self.code(of: error)), now: now)
        }
        settle(now: now)
        watchUse(now: now)
        owner.connectionProgressed(self, now: now)
    }

    /// Sends as many of the pending HTTP/2 frames as the socket takes.
    func flush(now: MonotonicTime) {
        guard !isClosed, blockedSince == nil, http2.wantsToSend || tls.pendingCiphertext > 0 else { return }
        table.now = now
        do {
            try send(now: now)
        } catch {
            return end(lossError(Self.text(of: error), Self.code(of: error)), now: now)
        }
        settle(now: now)
    }

    /// Writes. If the server is gone, reads the answers that it sent before. Otherwise those answers would be lost.
    private func send(now: MonotonicTime) throws {
        do {
            try write(now: now)
        } catch {
            _ = try? read(now: now, atMost: Self.leftoverLimit)
            throw error
        }
    }

    /// Reads what is there.
    ///
    /// - Parameter limit: How many times the buffer is filled at most, so that other sockets are read, too.
    /// - Returns: False when the peer will send no more.
    private func read(now: MonotonicTime, atMost limit: Int = readLimit) throws -> Bool {
        var ciphertext: [UInt8] = []
        swap(&ciphertext, &buffers.ciphertext)
        defer { swap(&ciphertext, &buffers.ciphertext) }
        for _ in 0..<limit {
            switch try socket.read(into: &ciphertext) {
            case .wouldBlock: return true
            case .closed: return false
            case .bytes(let count):
                lastHeard = now
                machine.heard()
                tls.receive(ciphertext.span.extracting(0..<count))
                guard try decrypt() else { return false }
                // A read that did not fill the buffer has emptied the socket.
                if count < ciphertext.count { return true }
            }
        }
        return true
    }

    /// Decrypts what has arrived, and hands it to HTTP/2.
    private func decrypt() throws -> Bool {
        var plaintext: [UInt8] = []
        swap(&plaintext, &buffers.incoming)
        defer { swap(&plaintext, &buffers.incoming) }
        while true {
            switch try tls.read(into: &plaintext) {
            case .needsInput: return true
            case .closed: return false
            case .bytes(let count): try http2.receive(plaintext.span.extracting(0..<count))
            }
        }
    }

    private func write(now: MonotonicTime) throws {
        try writeCiphertext(now: now)
        while blockedSince == nil, http2.wantsToSend {
            guard try encrypt() else { return }
            try writeCiphertext(now: now)
        }
    }

    /// Turns frames into TLS records.
    ///
    /// - Returns: False when HTTP/2 had nothing to send after all.
    private func encrypt() throws -> Bool {
        var plaintext: [UInt8] = []
        swap(&plaintext, &buffers.outgoing)
        defer { swap(&plaintext, &buffers.outgoing) }
        windowSize = max(windowSize, http2.remoteWindow)
        var total = 0
        while total < Self.burstSize {
            plaintext.removeAll(keepingCapacity: true)
            try http2.send(into: &plaintext, upTo: Self.recordSize)
            guard !plaintext.isEmpty else { break }
            total += plaintext.count
            try tls.write(plaintext.span)
        }
        return total > 0
    }

    private func writeCiphertext(now: MonotonicTime) throws {
        var isBlocked = false
        while tls.pendingCiphertext > 0, !isBlocked {
            try tls.withPendingCiphertext { bytes throws(EventLoopError) in
                let taken = try socket.write(bytes)
                isBlocked = taken == 0
                return taken
            }
        }
        guard isBlocked != (blockedSince != nil) else { return }
        blockedSince = isBlocked ? now : nil
        try loop.change(socket.fileDescriptor, to: isBlocked ? [.readable, .writable] : .readable)
    }

    // MARK: The end

    /// Closes a connection whose last request has ended.
    private func settle(now: MonotonicTime) {
        guard !isClosed, machine.isDrained || http2.isFinished else { return }
        end(farewell, now: now)
    }

    /// Closes at once. Each open request still ends with an answer.
    ///
    /// - Parameters:
    ///   - error: Why; nil for an orderly end.
    ///   - now: The time.
    func end(_ error: APNSClientError?, now: MonotonicTime) {
        guard !isClosed else { return }
        isClosed = true
        table.now = now
        if error == nil || farewell != nil {
            // Tells the peer that this end is intended. It does not matter whether the message arrives.
            http2.goAway(.noError)
            try? write(now: now)
            tls.closeNotify()
            try? writeCiphertext(now: now)
        }
        loop.unwatch(socket.fileDescriptor)
        machine.closed()
        http2.connectionLost()
        owner.connectionEnded(self, error, now: now)
    }

    /// Forgets the connection without telling anybody, because its pool is going away.
    func abandon() {
        guard !isClosed else { return }
        isClosed = true
        loop.unwatch(socket.fileDescriptor)
    }

    private func lossError(
        _ text: String, _ code: APNSClientError.Code = .connectionLost
    ) -> APNSClientError {
        farewell ?? APNSClientError(code, text)
    }

    private static func text(of error: any Error) -> String {
        switch error {
        case let error as EventLoopError: error.message
        case let error as TLSError: error.message
        case let error as HTTP2Error: error.message
        default: "\(error)"
        }
    }

    private static func code(of error: any Error) -> APNSClientError.Code {
        (error as? TLSError)?.code == .certificateRefused ? .credentialRefused : .connectionLost
    }
}

extension APNSConnection: StreamTableOwner {
    func streamEnded(tag: Int, _ answer: consuming PushAnswer, _ end: APNSConnectionStateMachine.StreamEnd) {
        machine.streamEnded(end, now: table.now)
        owner.connection(self, tag: tag, answered: answer, now: table.now)
    }

    func settingsReceived() {
        // The first round trip is measured at once, because the size of the pool depends on it.
        if machine.phase == .settling { ping(now: table.now) }
        machine.settingsReceived(maxConcurrentStreams: http2.remoteMaxConcurrentStreams)
    }

    func goAwayReceived(_ goAway: HTTP2GoAway) {
        machine.goAwayReceived()
        var data = goAway.debugData
        let text = "\(address) is going away: \(GoAwayText.describe(goAway))"
        if case .refused(let scope)? = ErrorBody(reading: &data).reason?.credentialVerdict {
            farewell = APNSClientError(.credentialRefused, text, refusalScope: scope)
        } else {
            farewell = APNSClientError(.connectionLost, text)
        }
    }

    func pingAcknowledged() {
        guard let sentAt = pingSentAt else { return }
        (pingSentAt, pingDue) = (nil, nil)
        // The shortest time counts. A longer time includes waiting in queues on the way.
        let latest = max(.nanoseconds(1), table.now - sentAt)
        roundTrip = min(roundTrip ?? latest, latest)
    }
}
