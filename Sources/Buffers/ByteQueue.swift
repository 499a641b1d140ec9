/// Bytes in the order they came, in one block of memory that is reused.
package struct ByteQueue: ~Copyable {
    /// The room, in bytes, that an empty queue may keep. With more room, it goes back to `ordinaryCapacity`.
    private static let keptCapacity = 1 << 20

    private let ordinaryCapacity: Int
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private var head = 0
    private var tail = 0
    /// Whether the bytes are lent and must stay where they are.
    private var isLent = false

    /// Makes an empty queue.
    ///
    /// - Parameter ordinaryCapacity: The room in bytes at the start. A queue that grew beyond 1 MiB goes back to this
    ///   room when it is empty; a queue that grew less keeps its room.
    package init(ordinaryCapacity: Int) {
        self.ordinaryCapacity = ordinaryCapacity
        capacity = ordinaryCapacity
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    /// How many bytes wait.
    package var count: Int { tail - head }

    /// Whether no byte waits.
    package var isEmpty: Bool { head == tail }

    /// Adds bytes at the end.
    ///
    /// - Parameters:
    ///   - bytes: Where they lie.
    ///   - count: How many.
    package mutating func append(_ bytes: UnsafeRawPointer, count: Int) {
        reserve(count).copyMemory(from: bytes, byteCount: count)
        commit(count)
    }

    /// Makes room at the end, for bytes that are written in place and then added by `commit(_:)`.
    ///
    /// - Parameter count: Room for how many.
    /// - Returns: Where to write; valid until the queue is used again.
    package mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        precondition(!isLent, "a queue of bytes is changed while they are lent")
        if tail + count > capacity { makeRoom(for: count) }
        return storage + tail
    }

    /// Adds bytes that were written to where `reserve(_:)` said.
    ///
    /// - Parameter count: How many; at most what was reserved.
    package mutating func commit(_ count: Int) {
        tail += count
        precondition(tail <= capacity, "more bytes than were reserved")
    }

    /// Moves bytes out from the beginning.
    ///
    /// - Parameters:
    ///   - target: Where to.
    ///   - limit: How many at most.
    /// - Returns: How many.
    package mutating func take(into target: UnsafeMutableRawPointer, upTo limit: Int) -> Int {
        let taken = min(limit, count)
        guard taken > 0 else { return 0 }
        target.copyMemory(from: storage + head, byteCount: taken)
        drop(taken)
        return taken
    }

    /// The bytes that wait; valid until the queue is used again.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage + head, count: count) }

    /// Lends all bytes. The bytes that `body` has used are dropped.
    ///
    /// - Parameter body: Returns how many of the bytes it has used. The bytes must not escape.
    /// - Throws: What `body` throws; nothing is dropped then.
    package mutating func lend<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        isLent = true
        defer { isLent = false }
        let bytes = UnsafeBufferPointer(
            start: UnsafePointer((storage + head).assumingMemoryBound(to: UInt8.self)), count: count)
        let used = try body(bytes.span)
        precondition((0...count).contains(used), "more bytes used than lent")
        drop(used)
    }

    /// Drops bytes from the beginning.
    ///
    /// - Parameter count: How many; at most as many as wait.
    package mutating func drop(_ count: Int) {
        head += count
        guard head == tail else { return }
        head = 0
        tail = 0
        if capacity > Self.keptCapacity { move(toCapacity: ordinaryCapacity) }
    }

    private mutating func makeRoom(for more: Int) {
        let needed = count + more
        // Moving within the block pays only if half of the block is free afterwards. Otherwise bytes would be moved too
        // often.
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
