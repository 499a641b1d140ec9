package import EventLoop
import Glibc
import TLS

/// A connection that is ready for HTTP/2: TCP and TLS are established, the server is verified, nothing was requested.
///
/// Belongs to one thread at a time: the helper thread that made it, then the lane that adopts it.
// The sender keeps no reference; the mailbox that carries it to the lane orders the accesses.
package final class EstablishedConnection: @unchecked Sendable {
    /// The socket; closed with this object unless it was taken.
    let fileDescriptor: Int32
    /// The TLS session, its handshake done.
    let session: TLSSession
    /// The address that the socket is connected to: the server's or, with a proxy, the proxy's.
    package let address: SocketAddress
    private var isTaken = false

    init(_ socket: consuming Socket, session: TLSSession, address: SocketAddress) {
        fileDescriptor = socket.release()
        self.session = session
        self.address = address
    }

    deinit {
        if !isTaken { close(fileDescriptor) }
    }

    /// The version of TLS, for instance `TLSv1.3`.
    package var protocolVersion: String { session.protocolVersion }

    /// Hands the socket over, once.
    func takeSocket() -> Socket {
        precondition(!isTaken, "a connection adopted twice")
        isTaken = true
        return Socket(takingOwnershipOf: fileDescriptor)
    }
}
