/// A consumer tag: the queue's position and how often that queue was consumed before.
struct ConsumerTag: Equatable {
    /// The queue's position on its route.
    var queue: Int
    /// Which consumer of that queue it is.
    var number: UInt32

    /// The tag on the wire, such as `q0.3`.
    var text: String { "q\(queue).\(number)" }

    /// A tag from its parts.
    init(queue: Int, number: UInt32) {
        self.queue = queue
        self.number = number
    }

    /// Reads a tag; nil for one that is not ours.
    init?(_ tag: some Sequence<UInt8>) {
        let parts = String(decoding: Array(tag), as: UTF8.self).dropFirst().split(separator: ".")
        guard parts.count == 2, let queue = Int(parts[0]), let number = UInt32(parts[1]) else { return nil }
        self.init(queue: queue, number: number)
    }
}

extension RouteConsumer {
    /// The tag of the latest consumer of a queue.
    func tag(_ queue: Int) -> ConsumerTag { ConsumerTag(queue: queue, number: numbers[queue]) }

    /// The queue whose latest consumer has a tag; nil for an earlier consumer's, which nothing waits for any more.
    func queue(of tag: some Sequence<UInt8>) -> Int? {
        guard let tag = ConsumerTag(tag), numbers.indices.contains(tag.queue), numbers[tag.queue] == tag.number else {
            return nil
        }
        return tag.queue
    }
}
