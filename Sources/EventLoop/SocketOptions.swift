import Glibc

/// Reads and changes options of sockets, also of sockets that somebody else owns. No call blocks.
package enum SocketOptions {
    /// Lets a connection break when the peer acknowledges or takes nothing for some time (TCP_USER_TIMEOUT, RFC 5482).
    ///
    /// - Parameters:
    ///   - fileDescriptor: A TCP socket.
    ///   - milliseconds: The time in milliseconds; 0 for the system's default, many minutes.
    package static func setUserTimeout(_ fileDescriptor: Int32, milliseconds: Int) {
        set(fileDescriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(clamping: milliseconds))
    }

    /// Switches keep-alive probes on (tcp(7)).
    ///
    /// - Parameters:
    ///   - fileDescriptor: A TCP socket.
    ///   - idle: Seconds of silence before the first probe.
    ///   - interval: Seconds between probes.
    ///   - count: Unanswered probes until the connection breaks.
    package static func setKeepalive(_ fileDescriptor: Int32, idle: Int, interval: Int, count: Int) {
        set(fileDescriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(fileDescriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, Int32(clamping: idle))
        set(fileDescriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, Int32(clamping: interval))
        set(fileDescriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, Int32(clamping: count))
    }

    /// Sends small segments at once, without waiting for acknowledgements (TCP_NODELAY).
    ///
    /// - Parameter fileDescriptor: A TCP socket.
    package static func setNoDelay(_ fileDescriptor: Int32) {
        set(fileDescriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Ends both directions of a connection. Every thread that waits on the descriptor wakes up.
    ///
    /// - Parameter fileDescriptor: A socket; it stays open.
    package static func shutdown(_ fileDescriptor: Int32) {
        _ = Glibc.shutdown(fileDescriptor, Int32(SHUT_RDWR))
    }

    /// Tells the peer that nothing more will be sent. Bytes of the peer can still be read.
    ///
    /// - Parameter fileDescriptor: A socket.
    package static func shutdownSending(_ fileDescriptor: Int32) {
        _ = Glibc.shutdown(fileDescriptor, Int32(SHUT_WR))
    }

    /// Takes the error that a connection broke with (SO_ERROR). The call clears the error.
    ///
    /// - Parameter fileDescriptor: A socket.
    /// - Returns: An error number, 0 for none.
    package static func pendingError(of fileDescriptor: Int32) -> Int32 {
        get(fileDescriptor, SOL_SOCKET, SO_ERROR) ?? errno
    }

    /// Sets a number. A refusal is ignored, because no setting here is vital.
    static func set(_ fileDescriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(fileDescriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func get(_ fileDescriptor: Int32, _ level: Int32, _ option: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(fileDescriptor, level, option, &value, &length) == 0 ? value : nil
    }
}
