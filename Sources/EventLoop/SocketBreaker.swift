import Glibc
import Synchronization

/// Breaks a socket off from another thread than the one it belongs to, which may be waiting in a call that uses it.
///
/// It keeps a descriptor of its own for the socket (dup(2)), so that it can never meet another one that was given the
/// same number since: the owner may close its own whenever it likes. The connection itself ends only when both are
/// closed, so `release()` belongs beside the owner's close.
package final class SocketBreaker: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Prepares for breaking a socket off.
    ///
    /// - Parameter fileDescriptor: the socket; it stays its owner's.
    /// - Returns: nil when the process has no descriptor left; the socket then cannot be broken off.
    package init?(_ fileDescriptor: Int32) {
        let own = fcntl(fileDescriptor, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        descriptor = Mutex(own)
    }

    deinit { release() }

    /// Ends both directions of the connection: whoever waits for it, on any thread, wakes up with an error or the end.
    package func breakOff() {
        descriptor.withLock { descriptor in
            if let descriptor { SocketOptions.shutdown(descriptor) }
        }
    }

    /// Lets the socket go; breaking it off does nothing from now on.
    package func release() {
        let own = descriptor.withLock { $0.take() }
        if let own { close(own) }
    }
}
