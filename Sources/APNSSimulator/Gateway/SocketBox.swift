import EventLoop
import Synchronization

/// Carries a socket from one thread to another.
final class SocketBox: Sendable {
    private let socket: Mutex<Socket?>

    /// Takes a socket over.
    ///
    /// - Parameter socket: An accepted socket.
    init(_ socket: consuming Socket) { self.socket = Mutex(socket) }

    /// Hands the socket on; only the first call gets it.
    func take() -> Socket? { socket.withLock { $0.take() } }
}
