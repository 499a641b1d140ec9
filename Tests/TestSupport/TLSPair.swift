package import TLS

/// A client's and a server's session, connected in memory.
package struct TLSPair {
    /// The client's end.
    package let client: TLSSession
    /// The server's end.
    package let server: TLSSession

    /// Connects two new sessions; their handshake has not begun.
    ///
    /// - Parameters:
    ///   - client: The client's context.
    ///   - server: The server's context.
    ///   - serverName: The name the client expects.
    /// - Throws: `TLSError` when the name cannot be a server's.
    package init(client: TLSContext, server: TLSContext, serverName: String = "localhost") throws(TLSError) {
        self.client = try TLSSession(client: client, serverName: serverName)
        self.server = try TLSSession(server: server)
    }

    /// Moves all ciphertext from one end to the other.
    ///
    /// - Parameters:
    ///   - sender: Where it comes from.
    ///   - receiver: Where it goes.
    ///   - portion: How many bytes the receiver gets at a time.
    /// - Returns: How many bytes were moved.
    @discardableResult
    package static func move(from sender: TLSSession, to receiver: TLSSession, portion: Int = .max) -> Int {
        var moved = 0
        while sender.pendingCiphertext > 0 {
            sender.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
                let count = min(portion, bytes.count)
                receiver.receive(bytes.extracting(0..<count))
                moved += count
                return count
            }
        }
        return moved
    }

    /// Shakes hands to the end.
    ///
    /// - Parameter portion: How many bytes each side gets at a time, with a chance to look at them in between.
    /// - Throws: The `TLSError` of the side that fails first.
    package func shakeHands(portion: Int = .max) throws(TLSError) {
        var isReady = (client: false, server: false)
        while !isReady.client || !isReady.server {
            isReady.client = try client.handshake()
            try Self.step(from: client, to: server, portion: portion)
            isReady.server = try server.handshake()
            try Self.step(from: server, to: client, portion: portion)
        }
    }

    /// Reads what is there.
    ///
    /// - Parameters:
    ///   - session: The end to read from.
    ///   - bufferSize: How many bytes to read at a time.
    /// - Returns: The plaintext, and whether the peer has closed.
    /// - Throws: `TLSError` when the connection is broken.
    package static func drain(
        _ session: TLSSession, bufferSize: Int = 16 << 10
    ) throws(TLSError) -> (bytes: [UInt8], isClosed: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: bufferSize)
        while true {
            switch try session.read(into: &buffer) {
            case .bytes(let count): bytes += buffer[..<count]
            case .needsInput: return (bytes, false)
            case .closed: return (bytes, true)
            }
        }
    }

    private static func step(from sender: TLSSession, to receiver: TLSSession, portion: Int) throws(TLSError) {
        while sender.pendingCiphertext > 0 {
            sender.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
                let count = min(portion, bytes.count)
                receiver.receive(bytes.extracting(0..<count))
                return count
            }
            if sender.pendingCiphertext > 0 { _ = try receiver.handshake() }
        }
    }
}
