internal import CRabbitMQ
package import EventLoop
internal import Glibc

/// One AMQP connection over rabbitmq-c 0.11, used by one thread at a time.
///
/// It is opened blocking on a helper thread (`open`) and then handed to its lane, which watches `fileDescriptor` and
/// calls `read` when that is readable, and at least every half heartbeat. Frames are only ever read without waiting,
/// and messages are put together here, because the library's own ways of doing so lose frames once several channels
/// are live. After any error thrown by `read`, or by a send other than `invalidMessage`, the connection must be
/// dropped. The thread that reads needs a large stack (`LoopThread`): the library decodes nested header tables
/// recursively and without limit.
// Protected by hand-over: its owner passes it on and does not touch it again; debug builds check the reading thread.
package final class AMQPConnection: @unchecked Sendable {
    /// What this side knows about a channel number.
    enum Phase { case unused, opening, open, closing, closed }

    /// A channel and the message that is being received on it.
    struct Channel {
        var phase = Phase.unused
        var content = ContentAssembly()
    }

    /// The library's connection.
    let state: amqp_connection_state_t
    /// Where the connection leads.
    let endpoint: AMQPEndpoint
    /// The largest body that is buffered; larger ones arrive without it.
    let bodyLimit: Int
    /// Channels by number; grows with `openChannel`.
    var channels: [Channel] = [Channel()]
    /// The socket, as the library got it; it stays the same after the library closed it.
    package internal(set) var fileDescriptor: Int32 = -1
    /// The smallest limit of a frame that is worked with, in bytes, as RabbitMQ itself asks of clients since 4.1.
    ///
    /// Properties must fit one frame (AMQP 0-9-1, 4.2.6.1). Without the producer's headers those of no copy, dead letter
    /// or result take more, so a worker never owes its broker a message that it cannot write.
    package static let smallestFrameMax = 8192
    /// The negotiated limit of a frame, in bytes.
    package internal(set) var frameMax = 0
    /// The highest channel number.
    package internal(set) var channelMax = 0
    /// The negotiated heartbeat in seconds.
    package internal(set) var heartbeat = 0
    /// Whether frames above `frameMax` are accepted (they arrive when the broker adds headers on redelivery).
    var acceptsLargeFrames = false
    /// Whether the broker announced that it does not read what is published.
    package internal(set) var isBlocked = false
    /// Set after the first error; the library must not be called again then, except to free everything.
    var isDead = false
    /// When the peer was last known to have sent something.
    var lastHeard = MonotonicTime.now()
    /// Bytes that may be sent without waiting, as of the last `refreshRoom`.
    var room = 0
    /// Bytes sent since the last `refreshRoom`.
    var sentSinceRefresh = 0
    /// The size of the kernel's send buffer.
    var sendBufferSize = 0
    /// Whether what is published may wait for more of it.
    var isBurst = false
    /// Whether the kernel was told so.
    var isCorked = false
    /// Header entries of the message being published, reused.
    var headerEntries = UnsafeMutableBufferPointer<amqp_table_entry_t>.allocate(capacity: 32)
    /// Takes methods that this class does not handle itself; returns whether it knew them.
    var otherMethods: ((_ channel: UInt16, _ method: UInt32, _ decoded: UnsafeMutableRawPointer?) -> Bool)?
    #if DEBUG
        private var owner: pthread_t?
    #endif

    /// An unconnected connection.
    ///
    /// - Parameters:
    ///   - endpoint: where it will lead.
    ///   - bodyLimit: the largest body to buffer.
    /// - Throws: `library` if there is no memory.
    init(endpoint: AMQPEndpoint, bodyLimit: Int) throws(AMQPError) {
        guard let state = amqp_new_connection() else { throw AMQPError(.library, "out of memory") }
        self.state = state
        self.endpoint = endpoint
        self.bodyLimit = bodyLimit
    }

    deinit {
        amqp_destroy_connection(state)
        headerEntries.deallocate()
    }

    /// Whether frames wait in user space, where epoll cannot see them.
    package var hasBufferedInput: Bool {
        guard !isDead else { return false }
        return amqp_frames_enqueued(state) != 0 || amqp_data_in_buffer(state) != 0
    }

    /// Whether nothing was heard for one and a half heartbeats; nothing may be sent then.
    ///
    /// The library hides heartbeats, so in doubt the kernel is asked when the last byte came.
    ///
    /// - Parameter now: the time.
    /// - Returns: whether to give the connection up.
    package func isSuspect(now: MonotonicTime) -> Bool {
        let patience = UInt64(heartbeat) * 1_500_000_000
        guard heartbeat > 0, now.nanoseconds(since: lastHeard) > patience, !isDead else { return false }
        let silence = crabbit_silence(fileDescriptor)
        guard silence >= 0 else { return true }
        let heard = MonotonicTime(nanoseconds: now.nanoseconds &- min(now.nanoseconds, UInt64(silence) * 1_000_000))
        lastHeard = max(lastHeard, heard)
        return now.nanoseconds(since: lastHeard) > patience
    }

    // MARK: Room

    /// Measures how much may be sent now without waiting for the peer.
    ///
    /// Half of the socket's send buffer less what is still in it, so that the heartbeats the library sends by itself
    /// always fit; nothing while the socket is not writable, publishing is blocked or the peer is suspect.
    ///
    /// - Returns: bytes that may be sent.
    @discardableResult
    package func refreshRoom() -> Int {
        room = 0
        sentSinceRefresh = 0
        guard !isDead, !isSuspect(now: .now()) else { return 0 }
        if sendBufferSize == 0 { sendBufferSize = SocketOptions.sendBufferSize(of: fileDescriptor) }
        let unsent = SocketOptions.unsentBytes(of: fileDescriptor)
        // Nothing unsent implies writable; asking poll as well costs a call only while the peer lags behind.
        if unsent == 0 || isWritable() { room = max(0, sendBufferSize / 2 - unsent) }
        return isBlocked ? 0 : room
    }

    private func isWritable() -> Bool {
        var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&descriptor, 1, 0) == 1 && Int32(descriptor.revents) & (POLLOUT | POLLERR | POLLHUP) == POLLOUT
    }

    /// Whether bytes may be sent now; measures anew when the last measure may be outdated.
    ///
    /// - Parameter size: how many bytes.
    /// - Returns: whether they will be taken without waiting.
    @inline(__always)
    func hasRoom(for size: Int) -> Bool {
        if size <= room { return true }
        return hasRoomAfterRefresh(for: size)
    }

    private func hasRoomAfterRefresh(for size: Int) -> Bool {
        if sentSinceRefresh > 0 || sendBufferSize == 0 { refreshRoom() }
        if size <= room { return true }
        // What is larger than half the buffer may use all of it when it is empty, else it could never be sent.
        return size > sendBufferSize / 2 && room == sendBufferSize / 2 && room > 0
    }

    /// Notes what was sent.
    ///
    /// - Parameter size: bytes given to the library.
    @inline(__always)
    func didSend(_ size: Int) {
        room = max(0, room - size)
        sentSinceRefresh += size
    }

    // MARK: Ends

    /// Turns a status of the library into an error and ends the connection.
    ///
    /// - Parameters:
    ///   - status: a negative status.
    ///   - doing: what was being done.
    /// - Returns: the error to throw.
    func lost(_ status: Int32, doing: String) -> AMQPError {
        isDead = true
        return Self.error(status, doing: doing)
    }

    /// Turns a status of the library into an error.
    ///
    /// - Parameters:
    ///   - status: a negative status.
    ///   - doing: what was being done.
    /// - Returns: the error.
    static func error(_ status: Int32, doing: String) -> AMQPError {
        let text = "\(doing): \(String(cString: amqp_error_string2(status)))"
        return switch status {
        case AMQP_STATUS_HEARTBEAT_TIMEOUT.rawValue: AMQPError(.heartbeatTimeout, text)
        case AMQP_STATUS_TIMEOUT.rawValue: AMQPError(.timeout, text)
        case AMQP_STATUS_BAD_AMQP_DATA.rawValue, AMQP_STATUS_UNKNOWN_CLASS.rawValue,
            AMQP_STATUS_UNKNOWN_METHOD.rawValue, AMQP_STATUS_WRONG_METHOD.rawValue,
            AMQP_STATUS_UNEXPECTED_STATE.rawValue:
            AMQPError(.protocolViolation, text)
        case AMQP_STATUS_NO_MEMORY.rawValue, AMQP_STATUS_INVALID_PARAMETER.rawValue: AMQPError(.library, text)
        default: AMQPError(.connectionLost, text)
        }
    }

    /// Makes sure that the connection may be used, by this thread.
    ///
    /// - Throws: `connectionLost` after an earlier error.
    @inline(__always)
    func checkUsable() throws(AMQPError) {
        assert(ownedByThisThread(), "an AMQP connection is used by two threads")
        guard !isDead else { throw AMQPError(.connectionLost, "the AMQP connection is closed") }
    }

    /// Lets another thread use the connection from now on; the next use decides which.
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
