import Glibc
import RabbitMQ
import Rig
import Synchronization

/// Reads a stream of the broker into a picture, either once or until Ctrl-C.
final class StreamReader<Picture: Sendable>: Sendable {
    /// How long the end of a stream is looked for. Where very many workers report, there is never the pause that shows
    /// the end.
    private static var longestCatchUp: Duration { .seconds(10) }

    private struct State {
        var picture: Picture
        var trouble: String?
        var isComplete = false
    }

    private let endpoints: [AMQPEndpoint]
    private let queue: String
    private let offset: String
    private let take: @Sendable (inout Picture, BrokerMessage) -> Void
    private let state: Mutex<State>

    /// Prepares a reader.
    ///
    /// - Parameters:
    ///   - endpoints: Where the broker is.
    ///   - queue: The stream.
    ///   - offset: Where reading begins, such as `5m` for five minutes ago, or `first`. Each new connection begins
    ///     there again.
    ///   - picture: The picture before anything was read.
    ///   - take: Adds a message to the picture. The same message may come again over a new connection.
    init(
        _ endpoints: [AMQPEndpoint], _ queue: String, from offset: String, into picture: Picture,
        take: @escaping @Sendable (inout Picture, BrokerMessage) -> Void
    ) {
        self.endpoints = endpoints
        self.queue = queue
        self.offset = offset
        self.take = take
        state = Mutex(State(picture: picture))
    }

    /// The picture so far, and why reading does not work; nil while it works.
    var news: (picture: Picture, trouble: String?) { state.withLock { ($0.picture, $0.trouble) } }

    /// Whether the picture still lacks messages that the stream holds, and will get them.
    var isCatchingUp: Bool { state.withLock { !$0.isComplete && $0.trouble == nil } }

    /// Reads everything that the stream holds; blocks.
    func readOnce() {
        attempt { link throws(CommandFailure) in try catchUp(link) }
    }

    /// Reads until Ctrl-C; blocks. After a lost connection it opens a new one, about 2 s later.
    func follow() {
        while !Interrupt.isRequested {
            attempt { link throws(CommandFailure) in
                try catchUp(link)
                while !Interrupt.isRequested {
                    _ = try link.takeFromStream(within: .milliseconds(200)) { message in self.note(message) }
                }
            }
            for _ in 0..<10 where !Interrupt.isRequested { usleep(200_000) }
        }
    }

    /// Reads up to the end of the stream.
    private func catchUp(_ link: CommandConnection) throws(CommandFailure) {
        try link.readStream(within: Self.longestCatchUp) { message in self.note(message) }
        state.withLock { $0.isComplete = true }
    }

    private func attempt(_ body: (CommandConnection) throws(CommandFailure) -> Void) {
        do throws(CommandFailure) {
            let link = try CommandConnection.open(endpoints, timeout: .seconds(5))
            defer { link.close() }
            try link.consume(queue, prefetch: 200, from: offset)
            state.withLock { $0.trouble = nil }
            try body(link)
        } catch {
            state.withLock { $0.trouble = error.message }
        }
    }

    private func note(_ message: BrokerMessage) {
        state.withLock { take(&$0.picture, message) }
    }
}
