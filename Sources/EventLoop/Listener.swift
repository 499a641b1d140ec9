import CLinux
import Glibc

/// Owns one listening TCP socket; the end of its life closes it.
package struct Listener: ~Copyable, Sendable {
    private let socket: Socket
    /// The address it listens on, with the port the system chose.
    package let address: SocketAddress

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: Where; port 0 means any free one.
    ///   - backlog: How many connections may wait to be accepted.
    /// - Throws: `EventLoopError` with the code `listenFailed` when the address is taken, not ours or not allowed.
    package init(address: SocketAddress, backlog: Int = 1024) throws(EventLoopError) {
        let socket = try Socket.open(family: address.family)
        // A port whose old connections still linger in TIME_WAIT can be listened on again at once.
        SocketOptions.set(socket.fileDescriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        guard address.withSocketAddress({ bind(socket.fileDescriptor, $0, $1) }) == 0,
            listen(socket.fileDescriptor, Int32(clamping: backlog)) == 0
        else { throw EventLoopError(.listenFailed, "listening on \(address)", errno: errno) }
        self.address = socket.localAddress ?? address
        self.socket = socket
    }

    /// The descriptor, for watching; the listener keeps it and closes it.
    package var fileDescriptor: Int32 { socket.fileDescriptor }

    /// Takes one waiting connection, without waiting.
    ///
    /// - Returns: The connection, with TCP_NODELAY. Nil when no connection waits or the waiting one is gone already.
    /// - Throws: `EventLoopError` for every other failure, for example when the process has no descriptor left.
    package func accept() throws(EventLoopError) -> Socket? {
        let descriptor = retryingInterrupted { clinux_accept(socket.fileDescriptor) }
        if descriptor >= 0 {
            SocketOptions.setNoDelay(descriptor)
            return Socket(owned: descriptor)
        }
        // accept(2) passes on errors of the new connection, too. ECONNABORTED and EPROTO mean that it is gone.
        if errno == EAGAIN || errno == ECONNABORTED || errno == EPROTO { return nil }
        throw EventLoopError(.systemCall, "accepting on \(address)", errno: errno)
    }
}
