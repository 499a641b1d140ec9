internal import COpenSSL

/// Bytes in the order they came, in one block of memory that is used again and again.
struct ByteQueue: ~Copyable {
    /// Room at the start, and what is kept when a burst has passed: a record of 16 KiB and its neighbour.
    private static let ordinaryCapacity = 40 << 10
    /// An empty queue gives back more than this.
    private static let keptCapacity = 1 << 20

    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private var head = 0
    private var tail = 0
    /// Whether the bytes are lent and must stay where they are.
    private var isLent = false

    /// Makes an empty queue.
    init() {
        capacity = Self.ordinaryCapacity
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    /// How many bytes wait.
    var count: Int { tail - head }

    /// Adds bytes at the end.
    ///
    /// - Parameters:
    ///   - bytes: where they lie.
    ///   - count: how many.
    mutating func append(_ bytes: UnsafeRawPointer, count: Int) {
        precondition(!isLent, "TLS session used while its ciphertext is lent")
        if tail + count > capacity { makeRoom(for: count) }
        (storage + tail).copyMemory(from: bytes, byteCount: count)
        tail += count
    }

    /// Moves bytes out from the beginning.
    ///
    /// - Parameters:
    ///   - target: where to.
    ///   - limit: how many at most.
    /// - Returns: how many.
    mutating func take(into target: UnsafeMutableRawPointer, upTo limit: Int) -> Int {
        let taken = min(limit, count)
        guard taken > 0 else { return 0 }
        target.copyMemory(from: storage + head, byteCount: taken)
        drop(taken)
        return taken
    }

    /// Lends all bytes; those that `body` has used are dropped.
    ///
    /// - Parameter body: returns how many of the bytes it has used; they must not escape.
    /// - Throws: what `body` throws; nothing is dropped then.
    mutating func lend<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        isLent = true
        defer { isLent = false }
        let bytes = UnsafeBufferPointer(
            start: UnsafePointer((storage + head).assumingMemoryBound(to: UInt8.self)), count: count)
        let used = try body(bytes.span)
        precondition((0...count).contains(used), "more ciphertext used than lent")
        drop(used)
    }

    private mutating func drop(_ count: Int) {
        head += count
        guard head == tail else { return }
        head = 0
        tail = 0
        if capacity > Self.keptCapacity { move(toCapacity: Self.ordinaryCapacity) }
    }

    private mutating func makeRoom(for more: Int) {
        let needed = count + more
        // Moving within the block is worth it only while that frees half of it, or bytes would be moved too often.
        guard needed > capacity / 2 else {
            storage.copyMemory(from: storage + head, byteCount: count)
            tail = count
            head = 0
            return
        }
        var larger = capacity
        while larger < needed { larger *= 2 }
        move(toCapacity: larger)
    }

    private mutating func move(toCapacity newCapacity: Int) {
        let block = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        block.copyMemory(from: storage + head, byteCount: count)
        storage.deallocate()
        storage = block
        capacity = newCapacity
        tail = count
        head = 0
    }
}

/// The two byte streams between one TLS session and whoever owns its socket.
///
/// OpenSSL reaches them through a BIO of our own: its memory BIOs would need a copy more to drop what was sent.
struct TLSTransport: ~Copyable {
    /// Ciphertext from the peer that OpenSSL has not read yet.
    var inbound = ByteQueue()
    /// Ciphertext for the peer; grows only by what the session's owner writes, and by few handshake messages.
    var outbound = ByteQueue()

    /// Makes a BIO that reads and writes a transport.
    ///
    /// - Parameter transport: must stay where it is until the BIO is freed.
    /// - Returns: the BIO, the caller's to free or give away; nil for want of memory.
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

/// Answers OpenSSL's questions: there is nothing to flush, the end is never known here, everything else is unknown.
private func controlTransport(
    _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ argument: UnsafeMutableRawPointer?
) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
