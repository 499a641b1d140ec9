import CLinux
import Glibc

/// Owns one listening TCP socket; going out of scope closes it.
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

    /// The descriptor, for watching; it stays this listener's property.
    package var fileDescriptor: Int32 { socket.fileDescriptor }

    /// Takes one waiting connection, without waiting.
    ///
    /// - Returns: The connection, with TCP_NODELAY; nil when none waits or the one that waited is gone already.
    /// - Throws: `EventLoopError` when no connection can be accepted now, for example without descriptors left.
    package func accept() throws(EventLoopError) -> Socket? {
        let descriptor = retryingInterrupted { clinux_accept(socket.fileDescriptor) }
        if descriptor >= 0 {
            SocketOptions.setNoDelay(descriptor)
            return Socket(owned: descriptor)
        }
        // Errors of the connection itself, which accept(2) passes on, are the peer's affair.
        if errno == EAGAIN || errno == ECONNABORTED || errno == EPROTO { return nil }
        throw EventLoopError(.systemCall, "accepting on \(address)", errno: errno)
    }
}
