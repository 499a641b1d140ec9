import Glibc

/// Owns one stream socket, non-blocking and closed on exec; the end of its life closes it.
package struct Socket: ~Copyable, Sendable {
    /// The result of a read from a socket.
    package enum ReadResult: Equatable, Sendable {
        /// So many bytes lie at the beginning of the buffer.
        case bytes(Int)
        /// Nothing is there yet.
        case wouldBlock
        /// The peer will send nothing more, and everything it sent was read.
        case closed
    }

    /// The descriptor, for watching; this value keeps it and closes it.
    package let fileDescriptor: Int32

    /// Takes over an open stream socket and makes it non-blocking.
    ///
    /// - Parameter fileDescriptor: The socket, closed by this value from now on.
    package init(takingOwnershipOf fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
        let flags = fcntl(fileDescriptor, F_GETFL)
        _ = fcntl(fileDescriptor, F_SETFL, flags | O_NONBLOCK)
        _ = fcntl(fileDescriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Takes over a socket that is already non-blocking and closed on exec.
    init(owned fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
    }

    deinit {
        close(fileDescriptor)
    }

    /// Connects to one address. It blocks, so call it on a helper thread only.
    ///
    /// - Parameters:
    ///   - address: The peer's address.
    ///   - timeout: How long to try.
    /// - Returns: The connected socket, with TCP_NODELAY.
    /// - Throws: `EventLoopError` with the code `connectFailed` or `timedOut`, or `systemCall` when the system refuses
    ///   a socket or the wait.
    package static func connect(
        to address: SocketAddress, timeout: Duration
    ) throws(EventLoopError) -> Socket {
        let socket = try startConnecting(to: address)
        guard try socket.wait(for: .writable, timeout: timeout) else {
            throw EventLoopError(.timedOut, "connecting to \(address)", errno: ETIMEDOUT)
        }
        try socket.finishConnecting(to: address)
        return socket
    }

    /// Begins to connect to an address, without waiting.
    ///
    /// - Parameter address: The peer's address.
    /// - Returns: A socket with TCP_NODELAY. It is writable once the attempt is over; `finishConnecting` then says how
    ///   the attempt ended.
    /// - Throws: `EventLoopError` with the code `connectFailed` when the attempt fails at once, or `systemCall` when
    ///   the system refuses a socket.
    package static func startConnecting(to address: SocketAddress) throws(EventLoopError) -> Socket {
        let socket = try open(family: address.family)
        SocketOptions.setNoDelay(socket.fileDescriptor)
        let result = address.withSocketAddress { Glibc.connect(socket.fileDescriptor, $0, $1) }
        // An interrupted connect goes on by itself, like one in progress (POSIX, connect).
        guard result == 0 || errno == EINPROGRESS || errno == EINTR else {
            throw EventLoopError(.connectFailed, "connecting to \(address)", errno: errno)
        }
        return socket
    }

    /// Learns how an attempt to connect ended.
    ///
    /// - Parameter address: The peer's address, for the error.
    /// - Throws: `EventLoopError` with the code `connectFailed`.
    package func finishConnecting(to address: SocketAddress) throws(EventLoopError) {
        let failure = SocketOptions.pendingError(of: fileDescriptor)
        guard failure == 0 else { throw EventLoopError(.connectFailed, "connecting to \(address)", errno: failure) }
    }

    /// Makes two stream sockets that are connected with each other, without a network.
    ///
    /// - Returns: Both descriptors (a tuple cannot hold `Socket` values), for `init(takingOwnershipOf:)`.
    /// - Throws: `EventLoopError` when the process has no descriptor left.
    package static func descriptorPair() throws(EventLoopError) -> (Int32, Int32) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &ends) {
            socketpair(AF_UNIX, Self.streamType, 0, $0.baseAddress?.assumingMemoryBound(to: Int32.self))
        }
        guard result == 0 else { throw EventLoopError(.systemCall, "socketpair", errno: errno) }
        return ends
    }

    /// The address of this end; nil for a socket without IP.
    package var localAddress: SocketAddress? {
        SocketAddress.reading { getsockname(fileDescriptor, $0, $1) }
    }

    /// The address of the other end; nil for a socket without IP, and after the connection broke.
    package var remoteAddress: SocketAddress? {
        SocketAddress.reading { getpeername(fileDescriptor, $0, $1) }
    }

    /// Reads the bytes that have arrived, without waiting.
    ///
    /// - Parameter buffer: Gets up to `buffer.count` bytes at its beginning; must not be empty.
    /// - Returns: The number of bytes read, `wouldBlock` before there are any, `closed` once no more will follow.
    /// - Throws: `EventLoopError` with the code `connectionLost` when the connection broke.
    package func read(into buffer: inout [UInt8]) throws(EventLoopError) -> ReadResult {
        precondition(!buffer.isEmpty, "read into an empty buffer")
        let count = buffer.withUnsafeMutableBytes { bytes in
            retryingInterrupted { recv(fileDescriptor, bytes.baseAddress, bytes.count, 0) }
        }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .closed }
        if errno == EAGAIN { return .wouldBlock }
        throw EventLoopError(.connectionLost, "reading from a socket", errno: errno)
    }

    /// Writes as much as the system takes, without waiting and without raising SIGPIPE.
    ///
    /// - Parameter bytes: The bytes to write.
    /// - Returns: How many bytes were taken, 0 when none can be taken now.
    /// - Throws: `EventLoopError` with the code `connectionLost` when the connection broke.
    package func write(_ bytes: Span<UInt8>) throws(EventLoopError) -> Int {
        let count = bytes.withUnsafeBytes { bytes in
            retryingInterrupted {
                send(fileDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return 0 }
        throw EventLoopError(.connectionLost, "writing to a socket", errno: errno)
    }

    /// Waits with poll(2) until the socket is ready. It blocks, so call it on a helper thread only.
    ///
    /// - Parameters:
    ///   - readiness: What to wait for; a hang-up or an error ends the wait too.
    ///   - timeout: How long to wait at most.
    /// - Returns: False when the time ran out.
    /// - Throws: `EventLoopError` when the system refuses.
    package func wait(for readiness: Readiness, timeout: Duration) throws(EventLoopError) -> Bool {
        let deadline = MonotonicTime.now().adding(timeout)
        var request = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        if readiness.contains(.readable) { request.events |= Int16(POLLIN) }
        if readiness.contains(.writable) { request.events |= Int16(POLLOUT) }
        while true {
            let count = poll(&request, 1, (deadline - .now()).pollMilliseconds)
            if count > 0 { return true }
            if count == 0 { return false }
            guard errno == EINTR else { throw EventLoopError(.systemCall, "poll", errno: errno) }
        }
    }

    /// Gives the descriptor away.
    ///
    /// - Returns: The descriptor; the caller must close it.
    package consuming func release() -> Int32 {
        let fileDescriptor = fileDescriptor
        discard self
        return fileDescriptor
    }

    /// The type for socket(2) and socketpair(2).
    static var streamType: Int32 {
        Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    }

    /// Opens a socket that is not connected yet.
    ///
    /// - Parameter family: The address family.
    /// - Returns: The socket.
    /// - Throws: `EventLoopError` when the system refuses.
    static func open(family: Int32) throws(EventLoopError) -> Socket {
        let descriptor = socket(family, streamType, 0)
        guard descriptor >= 0 else { throw EventLoopError(.systemCall, "socket", errno: errno) }
        return Socket(owned: descriptor)
    }
}
