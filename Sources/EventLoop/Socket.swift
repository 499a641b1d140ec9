internal import CLinux
internal import Glibc

/// What a read gave.
package enum ReadResult: Equatable, Sendable {
    /// This many bytes, at the buffer's beginning.
    case bytes(Int)
    /// Nothing now.
    case wouldBlock
    /// The peer sends no more.
    case closed
}

/// Owns one connected TCP socket: non-blocking, closed on exec, without Nagle's delay. `deinit` closes it.
package struct Socket: ~Copyable, Sendable {
    /// The descriptor, valid as long as this value lives.
    package let fileDescriptor: Int32

    /// Takes over a connected descriptor and sets it up.
    package init(takingOwnership descriptor: Int32) {
        fileDescriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(fileDescriptor) }

    /// Connects, waiting no longer than the timeout; for helper threads.
    ///
    /// - Throws: `EventLoopError` with code `unreachable` when nothing accepts in time.
    package static func connect(to address: SocketAddress, timeout: Duration) throws(EventLoopError) -> Socket {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(address.family, type, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        let socket = Socket(takingOwnership: descriptor)
        let status = address.withSystemAddress { Glibc.connect(descriptor, $0, $1) }
        if status == 0 { return socket }
        guard errno == EINPROGRESS else { throw EventLoopError(.unreachable, "\(address)", errno: errno) }
        guard try socket.wait(for: .writable, timeout: timeout) else {
            throw EventLoopError(.unreachable, "\(address) did not answer in time")
        }
        var failure: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
        guard failure == 0 else { throw EventLoopError(.unreachable, "\(address)", errno: failure) }
        return socket
    }

    /// Reads what is there, at most the buffer's size, into its beginning.
    ///
    /// - Throws: `EventLoopError` when the connection failed, for instance was reset.
    package func read(into buffer: inout [UInt8]) throws(EventLoopError) -> ReadResult {
        let count = buffer.withUnsafeMutableBytes { recv(fileDescriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .closed }
        if errno == EAGAIN || errno == EINTR { return .wouldBlock }
        throw .last("recv")
    }

    /// Writes what the kernel takes.
    ///
    /// - Returns: The bytes taken; 0 when it would block.
    /// - Throws: `EventLoopError` when the connection failed. A peer that is gone never raises SIGPIPE.
    package func write(_ bytes: Span<UInt8>) throws(EventLoopError) -> Int {
        let count = bytes.withUnsafeBytes { send(fileDescriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw .last("send")
    }

    /// Waits until the socket is ready; for helper threads.
    ///
    /// - Returns: False when the timeout passed first.
    package func wait(for readiness: Readiness, timeout: Duration) throws(EventLoopError) -> Bool {
        let until = MonotonicTime.now().adding(timeout)
        var poller = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        if readiness.contains(.readable) { poller.events |= Int16(POLLIN) }
        if readiness.contains(.writable) { poller.events |= Int16(POLLOUT) }
        while true {
            let left = until.nanoseconds(since: .now())
            let status = poll(&poller, 1, Int32(clamping: left / 1_000_000 + 1))
            if status > 0 { return true }
            if status < 0, errno != EINTR { throw .last("poll") }
            if MonotonicTime.now() >= until { return false }
        }
    }

    /// Gives the descriptor away; the caller closes it.
    package consuming func release() -> Int32 {
        let descriptor = fileDescriptor
        discard self
        return descriptor
    }
}

/// Owns one listening TCP socket. `deinit` closes it.
package struct Listener: ~Copyable, Sendable {
    /// The descriptor to watch for `.readable`.
    package let fileDescriptor: Int32
    /// Where it listens, with the port the system chose.
    package let address: SocketAddress

    /// Listens on an address; port 0 lets the system choose one.
    ///
    /// - Throws: `EventLoopError` when the address is taken or not ours.
    package init(address wanted: SocketAddress, backlog: Int = 512) throws(EventLoopError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(wanted.family, type, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard wanted.withSystemAddress({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, Int32(backlog)) == 0 else {
            let error = EventLoopError.last("cannot listen on \(wanted)")
            close(descriptor)
            throw error
        }
        fileDescriptor = descriptor
        address = Self.localAddress(of: descriptor) ?? wanted
    }

    deinit { close(fileDescriptor) }

    /// The next connection; nil when none waits.
    package func accept() throws(EventLoopError) -> Socket? {
        let descriptor = clinux_accept(
            fileDescriptor, Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue))
        if descriptor >= 0 { return Socket(takingOwnership: descriptor) }
        // A peer that left the queue again is no failure of the listener.
        if errno == EAGAIN || errno == EINTR || errno == ECONNABORTED { return nil }
        throw .last("accept")
    }

    private static func localAddress(of descriptor: Int32) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getsockname(descriptor, pointer, &length) == 0 ? SocketAddress(pointer) : nil
            }
        }
    }
}

/// Questions and settings for a descriptor that another library owns.
package enum SocketOptions {
    /// Bytes handed to the kernel that the peer has not acknowledged (SIOCOUTQ, tcp(7)); 0 when it cannot tell.
    package static func unsentBytes(of descriptor: Int32) -> Int { max(0, Int(clinux_unsent_bytes(descriptor))) }

    /// The size of the kernel's send buffer (SO_SNDBUF, socket(7)).
    package static func sendBufferSize(of descriptor: Int32) -> Int {
        var size: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, &length)
        return Int(size)
    }

    /// How long sent bytes may stay unacknowledged before the connection fails; 0 is the system's default.
    package static func setUserTimeout(_ descriptor: Int32, milliseconds: Int) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, milliseconds)
    }

    /// Turns keep-alive probes on: seconds of silence before the first, between two, and how many may fail.
    package static func setKeepalive(_ descriptor: Int32, idle: Int, interval: Int, count: Int) {
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, idle)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, interval)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, count)
    }

    /// Ends both directions, which makes calls blocked on the descriptor return.
    package static func shutdown(_ descriptor: Int32) { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int) {
        var value = Int32(clamping: value)
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
