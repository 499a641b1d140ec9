import COpenSSL

/// Owns an OpenSSL memory buffer that C code writes to.
struct MemoryBIO: ~Copyable {
    /// The C object.
    let pointer: OpaquePointer

    /// Makes an empty buffer; nil without memory left.
    init?() {
        guard let pointer = BIO_new(BIO_s_mem()) else { return nil }
        self.pointer = pointer
    }

    deinit {
        BIO_free(pointer)
    }

    /// A copy of the bytes that were written.
    var contents: [UInt8] {
        var bytes: UnsafeMutablePointer<CChar>?
        let count = copenssl_memory_contents(pointer, &bytes)
        return Array(UnsafeRawBufferPointer(start: bytes, count: max(0, count)))
    }
}
