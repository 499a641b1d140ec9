package import EventLoop
import Glibc

/// One AMQP connection without a socket: bytes in, events and bytes out.
///
/// The session has no clock and never waits. Its owner passes received bytes to `receive`, which reports their meaning
/// to a delegate. Bytes to be sent gather in one output buffer. The owner empties the buffer with `withPendingOutput`,
/// once per turn. rabbitmq-c serves only as a codec for methods and properties.
///
/// After an error of `receive` or `tick` the session must be dropped. So must it after an error of a request, unless
/// the request's comment excepts that error. Bytes that wait may still be sent, because they may tell the broker why.
/// One thread at a time.
// Protected by hand-over: its owner passes it on and does not touch it again; debug builds check the thread.
package final class AMQPSession: @unchecked Sendable {
    /// The smallest negotiated frame limit that this client works with, in bytes. RabbitMQ asks the same of clients
    /// since 4.1.
    ///
    /// Properties must fit one frame (AMQP 0-9-1, 4.2.6.1). The properties of any copy, dead letter or result fit this
    /// size once the producer's headers are left out. So a worker can always publish them.
    package static let smallestFrameMax = 8192
    /// The largest frame to accept on a connection that consumes, in bytes. A broker exceeds the negotiated limit
    /// (131,072 bytes by default) when it adds headers to a message that it delivers again.
    package static let consumingReceiveLimit = 160 << 10

    /// Who logs in, where and how.
    let login: AMQPLogin
    /// The largest body that is buffered, in bytes. A message with a larger body is delivered without its body. A new
    /// value holds for messages whose header frame arrives from now on.
    package var bodyLimit: Int
    /// Decides what may come next, and how to answer.
    var state: AMQPSessionStateMachine
    /// Cuts what arrives into frames.
    var frames: FrameReader
    /// Decodes arguments of methods.
    var decoder = MethodDecoder()
    /// The frames that wait to be sent.
    var output = FrameWriter()
    /// What is being received on each channel, by number.
    var channels: [ChannelReader] = []
    /// Whether an error has ended the session.
    private(set) var isDead = false
    /// Whether the last `tick` found that nothing was heard for one and a half heartbeats. False again after `receive`.
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
        login = AMQPLogin(endpoint: endpoint, clientName: clientName, clientVersion: clientVersion)
        self.bodyLimit = bodyLimit
        state = AMQPSessionStateMachine(wanted: login.limits, mechanism: login.mechanism, now: now)
        frames = FrameReader(frameMax: login.limits.frameMax, receiveLimit: receiveLimit)
    }

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
    /// The broker's version; nil before its greeting, and where that has none.
    package var brokerVersion: BrokerVersion? { state.brokerVersion }
    /// Whether the broker announced that it does not read what is published.
    package var isBlocked: Bool { state.isBlocked }

    /// The login in words, for errors: who asks for what, without the password.
    package var loginText: String { login.text }

    // MARK: Bytes in

    /// Takes bytes that arrived and reports what they mean.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, in any portions.
    ///   - delegate: What to report to.
    ///   - now: The time.
    /// - Throws: Any `AMQPError`; the session must be dropped then.
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
            throw end(state.phase == .open || state.phase == .closed ? error : login.failed(error))
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
        // Bytes that are already waiting replace the heartbeat once they leave.
        if output.isEmpty { output.putHeartbeat() }
        state.sent(now: now)
    }

    /// When `tick` has something to do.
    ///
    /// - Parameter now: The time.
    /// - Returns: Nil before the login is complete, after the end, and without heartbeats.
    package func nextTick(now: MonotonicTime) -> MonotonicTime? { isDead ? nil : state.nextHeartbeatEvent(now: now) }

    // MARK: Bytes out

    /// How many bytes wait to be sent.
    package var pendingOutput: Int { output.count }

    /// Lends all bytes that wait to be sent, and drops those that went out.
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

    /// Whether so many bytes may be published or acknowledged now.
    ///
    /// - Parameter size: How many bytes.
    /// - Returns: False while the broker is suspect, and while too many bytes wait already.
    @inline(__always)
    func hasRoom(for size: Int) -> Bool { !isSuspect && output.hasRoom(for: size) }

    /// Whether something may be published or acknowledged now.
    package var hasRoom: Bool { !isDead && hasRoom(for: 1) }

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

    /// Lets another thread use the session from now on: the thread of the next use.
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
