import DequeModule
import EventLoop

/// The latest events of a world, in words.
package struct Trace {
    /// How many of the latest events are kept.
    let length: Int
    private var lines: Deque<String> = []

    /// Keeps so many.
    init(length: Int) { self.length = length }

    /// Notes an event.
    mutating func note(_ text: String, at time: MonotonicTime) {
        if lines.count == length { lines.removeFirst() }
        let seconds = Double(time.nanoseconds) / 1e9 - 1_000
        lines.append("\(Int(seconds * 1_000_000)) us  \(text)")
    }

    /// All of them, one per line.
    package var text: String { lines.joined(separator: "\n") }
}
