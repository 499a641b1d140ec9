import DequeModule
import EventLoop

/// The latest events of a world, in words.
package struct Trace {
    private static let length = 60

    private var lines: Deque<String> = []

    /// Notes an event.
    mutating func note(_ text: String, at time: MonotonicTime) {
        if lines.count == Self.length { lines.removeFirst() }
        let seconds = Double(time.nanoseconds) / 1e9 - 1_000
        lines.append("\(Int(seconds * 1_000_000)) us  \(text)")
    }

    /// All of them, one per line.
    package var text: String { lines.joined(separator: "\n") }
}
