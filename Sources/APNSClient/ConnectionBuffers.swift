/// Buffers that the connections of one pool share to read and write. Only one connection uses them at a time.
final class ConnectionBuffers {
    /// Ciphertext from the socket.
    var ciphertext = [UInt8](repeating: 0, count: 32_768)
    /// Plaintext on its way in.
    var incoming = [UInt8](repeating: 0, count: 16_384)
    /// Plaintext on its way out: one TLS record's worth of frames.
    var outgoing: [UInt8] = []
}
