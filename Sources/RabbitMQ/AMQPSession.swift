import Buffers
import CRabbitMQ
package import EventLoop
import Glibc

/// One AMQP connection without a socket: bytes in, events and bytes out.
///
/// It has no clock, and nothing in it waits. What arrived is given to `receive`, which reports what it was to a delegate;
/// what is to be sent gathers in one output buffer, which its owner empties with `withPendingOutput`, once per turn.
/// rabbitmq-c is used as a codec for methods and properties only. After any error thrown by `receive`, `tick`, or by a
/// request other than `invalidMessage`, the session must be dropped. Bytes that wait may still be sent, because they
/// may tell the broker why. One thread at a time.
// Protected by hand-over: its owner passes it on and does not touch it again; debug builds check the thread.
package final class AMQPSession: @unchecked Sendable {
    /// The smallest limit of a frame that is worked with, in bytes, as RabbitMQ itself asks of clients since 4.1.
    ///
    /// Properties must fit one frame (AMQP 0-9-1, 4.2.6.1). The properties of any copy, dead letter or result fit this
    /// size once the producer's headers are left out. So a worker can always write what it owes.
    package static let smallestFrameMax = 8192
    /// The largest frame to accept on a connection that consumes, in bytes: a broker exceeds the negotiated limit
    /// (131,072 by default) when it adds headers to a message that it delivers again.
    package static let consumingReceiveLimit = 160 << 10
    /// How many bytes may wait to be sent before nothing more is published or acknowledged. Above this limit a slow
    /// broker holds back publishing. A larger buffer would not make writes cheaper.
    package static let outputLimit = 256 << 10
    /// How many bytes may wait before requests and answers end the connection: what a broker can make this side answer.
    static let requestLimit = outputLimit + (64 << 10)

    /// Where the connection leads and how to log in.
    let endpoint: AMQPEndpoint
    private let clientName: String
    private let clientVersion: String
    /// The largest body that is buffered; larger ones arrive without it. It counts for messages that begin from now on.
    package var bodyLimit: Int
    private let receiveLimit: Int
    /// What may come next, and what is to be answered.
    var state: AMQPSessionStateMachine
    private var frames: FrameReader
    /// Decodes arguments of methods.
    var decoder = MethodDecoder()
    /// What is to be sent.
    var output = ByteQueue(ordinaryCapacity: 64 << 10)
    /// The message that is being received on each channel, by number.
    var contents: [ContentAssembly] = []
    /// The request about queues whose answer each channel waits for, by number; 0 for none.
    var questions: [UInt32] = []
    /// Header entries of the message being published, reused.
    var headerEntries = UnsafeMutableBufferPointer<amqp_table_entry_t>.allocate(capacity: 32)
    /// Set after the first error; the session is of no more use then.
    private(set) var isDead = false
    /// Whether nothing was heard for one and a half heartbeats, as of the last `tick`.
    package private(set) var isSuspect = false
    #if DEBUG
        private var owner: pthread_t?
    #endif

    /// A session that has its greeting to send.
    ///
    /// - Parameters:
    ///   - endpoint: Where it leads and how to log in.
    ///   - clientName: The name operators see in the broker's list of connections.
    ///   - clientVersion: The version they see.
    ///   - bodyLimit: The largest body that is buffered, in bytes.
    ///   - receiveLimit: The largest frame accepted, in bytes, where that is more than the negotiated limit.
    ///   - now: The time.
    package init(
        _ endpoint: AMQPEndpoint, clientName: String, clientVersion: String = "", bodyLimit: Int,
        receiveLimit: Int = 0, now: MonotonicTime
    ) {
        self.endpoint = endpoint
        self.clientName = clientName
        self.clientVersion = clientVersion
        self.bodyLimit = bodyLimit
        self.receiveLimit = receiveLimit
        let wanted = AMQPLimits(
            channelMax: endpoint.channelMax, frameMax: endpoint.frameMax, heartbeat: endpoint.heartbeat)
        state = AMQPSessionStateMachine(
            wanted: wanted, mechanism: endpoint.saslExternal ? "EXTERNAL" : "PLAIN", now: now)
        frames = FrameReader(payloadLimit: max(wanted.frameMax, receiveLimit) - Frame.overhead)
        let greeting: [UInt8] = Array("AMQP".utf8) + [0, 0, 9, 1]
        greeting.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { output.append(base, count: bytes.count) }
        }
    }

    deinit { headerEntries.deallocate() }

    // MARK: What was agreed to

    /// Whether the login is complete and channels can be opened.
    package var isOpen: Bool { !isDead && state.phase == .open }
    /// Whether the connection has ended, in an orderly way or by an error.
    package var isClosed: Bool { isDead || state.phase == .closed }
    /// The negotiated limit of a frame, in bytes.
    package var frameMax: Int { state.limits.frameMax }
    /// The highest channel number.
    package var channelMax: Int { state.limits.channelMax }
    /// The negotiated heartbeat in seconds; 0 for none.
    package var heartbeat: Int { state.limits.heartbeat }
    /// Whether the broker announced that it does not read what is published.
    package var isBlocked: Bool { state.isBlocked }

    /// The login in words, for errors: who asks for what, without the password.
    package var loginText: String {
        let who = endpoint.saslExternal ? "the client certificate" : "user \(endpoint.user)"
        return "\(who) on virtual host \(endpoint.virtualHost) of \(endpoint.host):\(endpoint.port)"
    }

    // MARK: Bytes in

    /// Takes bytes that arrived and reports what they mean.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, in any portions.
    ///   - delegate: What to report to.
    ///   - now: The time.
    /// - Throws: Anything; the session must be dropped then.
    package func receive(
        _ bytes: Span<UInt8>, delegate: any AMQPSessionDelegate, now: MonotonicTime
    ) throws(AMQPError) {
        try checkUsable()
        state.heard(now: now)
        isSuspect = false
        do throws(AMQPError) {
            try bytes.withUnsafeBytes { bytes throws(AMQPError) in
                var rest = bytes
                while let frame = try frames.next(in: &rest) { try handle(frame, delegate) }
            }
        } catch {
            throw end(state.phase == .open || state.phase == .closed ? error : loginError(error))
        }
    }

    /// Sends a heartbeat where one is due, and judges the broker's silence.
    ///
    /// - Parameter now: The time.
    /// - Throws: `heartbeatTimeout` when nothing was heard for two heartbeats; the session must be dropped then.
    package func tick(now: MonotonicTime) throws(AMQPError) {
        guard !isDead else { return }
        guard !state.isLost(now: now) else {
            throw end(
                AMQPError(.heartbeatTimeout, "nothing was heard from the broker for two heartbeats (\(heartbeat) s)"))
        }
        isSuspect = state.isSuspect(now: now)
        guard state.owesHeartbeat(now: now) else { return }
        // What waits already is as good as a heartbeat, once it goes.
        if output.isEmpty { putFrame(.heartbeat, channel: 0, size: 0) { _ in } }
        state.sent(now: now)
    }

    /// When `tick` has something to do.
    ///
    /// - Parameter now: The time.
    /// - Returns: Nil without heartbeats.
    package func nextTick(now: MonotonicTime) -> MonotonicTime? { isDead ? nil : state.nextHeartbeatEvent(now: now) }

    // MARK: Bytes out

    /// How many bytes wait to be sent.
    package var pendingOutput: Int { output.count }

    /// Lends all that waits to be sent; those bytes that went out are dropped.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - body: Sends the bytes and returns how many went out; they must not escape, and the session must not be used
    ///     within.
    /// - Throws: What `body` throws; nothing is dropped then.
    package func withPendingOutput<Failure: Error>(
        now: MonotonicTime, _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        let before = output.count
        try output.lend(body)
        if output.count < before { state.sent(now: now) }
    }

    /// Whether so many bytes may be published or acknowledged now: all that waits stays below `outputLimit`. What is
    /// larger than that goes out alone.
    @inline(__always)
    func hasRoom(for size: Int) -> Bool {
        !isSuspect && (output.count + size <= Self.outputLimit || output.isEmpty)
    }

    /// Whether something may be published or acknowledged now.
    package var hasRoom: Bool { !isDead && hasRoom(for: 1) }

    /// Writes a frame into the output buffer.
    ///
    /// - Parameters:
    ///   - kind: What it carries.
    ///   - channel: Its channel.
    ///   - size: The size of its payload, in bytes.
    ///   - write: Writes the payload, exactly so many bytes, to where it is told.
    @inline(__always)
    func putFrame(_ kind: Frame.Kind, channel: UInt16, size: Int, _ write: (UnsafeMutableRawPointer) -> Void) {
        let start = output.reserve(size + Frame.overhead)
        write(start + Frame.headSize)
        commitFrame(kind, channel: channel, size: size, at: start)
    }

    /// Puts head and end mark around a payload that was written into the output buffer, and adds the whole.
    ///
    /// - Parameters:
    ///   - kind: What it carries.
    ///   - channel: Its channel.
    ///   - size: The size of its payload, in bytes.
    ///   - start: Where the frame begins, as `ByteQueue.reserve` said.
    @inline(__always)
    func commitFrame(_ kind: Frame.Kind, channel: UInt16, size: Int, at start: UnsafeMutableRawPointer) {
        start.storeBytes(of: kind.rawValue, as: UInt8.self)
        start.storeBytes(of: channel.bigEndian, toByteOffset: 1, as: UInt16.self)
        start.storeBytes(of: UInt32(size).bigEndian, toByteOffset: 3, as: UInt32.self)
        start.storeBytes(of: Frame.endMark, toByteOffset: Frame.headSize + size, as: UInt8.self)
        output.commit(size + Frame.overhead)
    }

    // MARK: The login

    /// Sends connection.start-ok with our own capabilities: without them the broker would not tell of its alarms, of
    /// consumers that it cancels, and of logins that it refuses.
    func logIn() throws(AMQPError) {
        let capabilities = [
            "consumer_cancel_notify", "connection.blocked", "basic.nack", "publisher_confirms",
            "authentication_failure_close",
        ]
        func entry(_ name: String, _ value: FieldValue) -> FieldTable.Entry {
            FieldTable.Entry(name: Array(name.utf8), value: value)
        }
        let properties = FieldTable(entries: [
            entry("connection_name", .text(clientName)), entry("product", .text("martlet")),
            entry("version", .text(clientVersion)),
            entry("capabilities", .table(FieldTable(entries: capabilities.map { entry($0, .boolean(true)) }))),
        ])
        let (mechanism, response): (String, [UInt8]) =
            endpoint.saslExternal
            ? ("EXTERNAL", []) : ("PLAIN", [0] + Array(endpoint.user.utf8) + [0] + Array(endpoint.password.utf8))
        try withBytes(mechanism, "en_US") { mechanism, locale throws(AMQPError) in
            try response.span.withUnsafeBytes { response throws(AMQPError) in
                var memory = NestedValues()
                var startOk = amqp_connection_start_ok_t()
                startOk.client_properties = memory.encode(properties)
                startOk.mechanism = mechanism
                startOk.response = amqp_bytes_t(
                    len: response.count, bytes: UnsafeMutableRawPointer(mutating: response.baseAddress))
                startOk.locale = locale
                let size = 1024 + FieldValue.table(properties).encodedSize + response.count
                try self.send(Method.connectionStartOk, 0, &startOk, size: size)
            }
        }
    }

    /// Agrees to limits and asks for the virtual host.
    ///
    /// - Parameter limits: What both ends can live with.
    func open(_ limits: AMQPLimits) throws(AMQPError) {
        frames.payloadLimit = max(limits.frameMax, receiveLimit) - Frame.overhead
        var tuneOk = amqp_connection_tune_ok_t(
            channel_max: UInt16(clamping: limits.channelMax), frame_max: UInt32(clamping: limits.frameMax),
            heartbeat: UInt16(clamping: limits.heartbeat))
        try send(Method.connectionTuneOk, 0, &tuneOk)
        try withBytes(endpoint.virtualHost, "") { virtualHost, none throws(AMQPError) in
            var open = amqp_connection_open_t(virtual_host: virtualHost, capabilities: none, insist: 0)
            try self.send(Method.connectionOpen, 0, &open)
        }
    }

    /// Says of an error which login it ended.
    private func loginError(_ error: AMQPError) -> AMQPError {
        var error = error
        error.message = "login of \(loginText): \(error.message)"
        return error
    }

    // MARK: Ends

    /// Ends the session after an error.
    ///
    /// - Parameter error: What happened.
    /// - Returns: The same error, to throw.
    func end(_ error: AMQPError) -> AMQPError {
        isDead = true
        state.ended()
        return error
    }

    /// Makes sure that the session may be used, by this thread.
    ///
    /// - Throws: `connectionLost` after an earlier error.
    @inline(__always)
    func checkUsable() throws(AMQPError) {
        assert(ownedByThisThread(), "an AMQP session is used by two threads")
        guard !isDead else { throw AMQPError(.connectionLost, "the AMQP connection is closed") }
    }

    /// Lets another thread use the session from now on; the next use decides which.
    package func disown() {
        #if DEBUG
            owner = nil
        #endif
    }

    private func ownedByThisThread() -> Bool {
        #if DEBUG
            if let owner { return pthread_equal(owner, pthread_self()) != 0 }
            owner = pthread_self()
        #endif
        return true
    }
}
