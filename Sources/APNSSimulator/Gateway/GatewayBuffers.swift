/// Buffers that the connections of one loop share, as only one of them is at work at a time.
final class GatewayBuffers {
    /// What a read from a socket fills.
    var ciphertext = [UInt8](repeating: 0, count: 64 << 10)
    /// What a read from TLS fills.
    var plaintext = [UInt8](repeating: 0, count: 32 << 10)
    /// What a protocol has to send.
    var output: [UInt8] = []

    /// Makes the buffers.
    init() { output.reserveCapacity(64 << 10) }
}
