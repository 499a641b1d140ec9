import EventLoop

/// One direction of a long cable: bytes come out in order, at the time that was set when they went in.
struct DelayLine {
    /// How many bytes may be on their way before no more should be put in: more than two round trips of 1 s need at
    /// 100 Mbit/s (25 MB).
    static let capacity = 32 << 20

    private struct Chunk {
        var due: MonotonicTime
        var bytes: [UInt8]
    }

    private var chunks: [Chunk] = []
    private var head = 0

    /// How many bytes are on their way.
    private(set) var count = 0

    /// Starts empty.
    init() {}

    /// Whether no more bytes should be put in.
    var isFull: Bool { count >= Self.capacity }

    /// When the next bytes come out; nil where none are on their way.
    var nextDue: MonotonicTime? { head < chunks.count ? chunks[head].due : nil }

    /// Puts bytes in.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - due: When they come out; never earlier than those before them.
    mutating func append(_ bytes: [UInt8], due: MonotonicTime) {
        guard !bytes.isEmpty else { return }
        chunks.append(Chunk(due: due, bytes: bytes))
        count += bytes.count
    }

    /// Takes the next bytes out.
    ///
    /// - Parameter now: The time.
    /// - Returns: Bytes that have arrived, or nil where none have.
    mutating func take(now: MonotonicTime) -> [UInt8]? {
        guard head < chunks.count, chunks[head].due <= now else { return nil }
        let bytes = chunks[head].bytes
        chunks[head].bytes = []
        count -= bytes.count
        head += 1
        // Moving the rest costs time, so it is done only once half of the array is empty.
        if head == chunks.count {
            chunks.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64, head * 2 > chunks.count {
            chunks.removeFirst(head)
            head = 0
        }
        return bytes
    }
}
