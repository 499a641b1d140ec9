import Buffers
import Testing

@Suite("A queue of bytes", .timeLimit(.minutes(1)))
struct ByteQueueTests {
    @Test("gives what it got, through growing, moving and shrinking")
    func keepsOrder() {
        var queue = ByteQueue(ordinaryCapacity: 40 << 10)
        var generator = SystemRandomNumberGenerator()
        var next: UInt8 = 0
        var expected: UInt8 = 0
        for round in 0..<2000 {
            let largest = round == 1000 ? 3 << 20 : 9000
            let added = (0..<Int.random(in: 0...largest, using: &generator)).map { _ in
                next &+= 1
                return next
            }
            added.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                // Both ways to add: a copy, and writing in place into more room than is used.
                if round.isMultiple(of: 2) { return queue.append(base, count: bytes.count) }
                queue.reserve(bytes.count + 100).copyMemory(from: base, byteCount: bytes.count)
                queue.commit(bytes.count)
            }
            let limit = round % 50 == 49 ? .max : Int.random(in: 0...9000, using: &generator)
            let before = queue.count
            queue.lend { (bytes: Span<UInt8>) -> Int in
                let used = min(limit, bytes.count)
                for index in 0..<used {
                    expected &+= 1
                    if bytes[index] != expected { Issue.record("byte out of order") }
                }
                return used
            }
            #expect(queue.count == max(0, before - limit))
        }
    }
}
