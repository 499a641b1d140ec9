import Buffers
import COpenSSL

/// The two byte streams between one TLS session and the owner of its socket.
///
/// OpenSSL reaches them through a BIO of our own. Its memory BIOs would need one more copy to drop sent bytes.
struct TLSTransport: ~Copyable {
    /// Room for two records of 16 KiB, in bytes.
    private static let ordinaryCapacity = 40 << 10

    /// Ciphertext from the peer that OpenSSL has not read yet.
    var inbound = ByteQueue(ordinaryCapacity: ordinaryCapacity)
    /// Ciphertext for the peer; grows only by what the session's owner writes, and by few handshake messages.
    var outbound = ByteQueue(ordinaryCapacity: ordinaryCapacity)

    /// Makes a BIO that reads and writes a transport.
    ///
    /// - Parameter transport: Must stay where it is until the BIO is freed.
    /// - Returns: The BIO, the caller's to free or give away; nil without memory left.
    static func makeBIO(for transport: UnsafeMutablePointer<TLSTransport>) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, transport)
        BIO_set_init(bio, 1)
        return bio
    }

    /// The kind of BIO, made once for the life of the process.
    // Never changed once it is made; OpenSSL only reads it.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "martlet") else { return nil }
        BIO_meth_set_read(method, readTransport)
        BIO_meth_set_write(method, writeTransport)
        BIO_meth_set_ctrl(method, controlTransport)
        return method
    }()
}

/// Gives OpenSSL ciphertext from the peer; called within reads and handshakes, on the thread of the session.
private func readTransport(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ limit: Int32) -> Int32 {
    guard let bio, let bytes, let data = BIO_get_data(bio) else { return -1 }
    let taken = data.assumingMemoryBound(to: TLSTransport.self).pointee.inbound.take(into: bytes, upTo: Int(limit))
    BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY)
    if taken > 0 { return Int32(taken) }
    BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
}

/// Takes ciphertext for the peer; called within writes and handshakes, on the thread of the session.
private func writeTransport(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    guard let bio, let bytes, count > 0, let data = BIO_get_data(bio) else { return 0 }
    data.assumingMemoryBound(to: TLSTransport.self).pointee.outbound.append(bytes, count: Int(count))
    return count
}

/// Answers OpenSSL's requests: a flush succeeds, because there is nothing to flush. Every other answer is 0.
private func controlTransport(
    _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ argument: UnsafeMutableRawPointer?
) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
