import EventLoop
import Glibc
import PushWorker
import RabbitMQ
import Rig
import Synchronization
import Topology

/// Reads the workers' reports from their stream, once or for as long as somebody watches.
final class FleetReader: Sendable {
    /// How long the first report may take, and how long the next one.
    private static let patience = (first: Duration.seconds(2), next: Duration.milliseconds(400))
    /// Where reading begins: as long ago as silent workers are shown.
    private static let offset = "5m"

    private struct State {
        var picture = FleetPicture()
        var trouble: String?
    }

    private let endpoints: [AMQPEndpoint]
    private let state = Mutex(State())

    /// Prepares a reader.
    /// - Parameter endpoints: Where the broker is.
    init(_ endpoints: [AMQPEndpoint]) { self.endpoints = endpoints }

    /// What was read so far, and why reading does not work; nil while it does.
    var news: (picture: FleetPicture, trouble: String?) { state.withLock { ($0.picture, $0.trouble) } }

    /// Reads what the stream holds; blocks.
    func readOnce() {
        attempt { link throws(CommandFailure) in
            var patience = Self.patience.first
            while !Interrupt.isRequested, try take(from: link, within: patience) { patience = Self.patience.next }
        }
    }

    /// Reads until Ctrl-C, over new connections where one is lost; blocks.
    func follow() {
        while !Interrupt.isRequested {
            attempt { link throws(CommandFailure) in
                while !Interrupt.isRequested { _ = try take(from: link, within: .milliseconds(200)) }
            }
            for _ in 0..<10 where !Interrupt.isRequested { usleep(200_000) }
        }
    }

    private func attempt(_ body: (CommandConnection) throws(CommandFailure) -> Void) {
        do throws(CommandFailure) {
            let link = try CommandConnection.open(endpoints, timeout: .seconds(5))
            defer { link.close() }
            try link.consume(TopologyNames.fleetQueue, prefetch: 200, from: Self.offset)
            state.withLock { $0.trouble = nil }
            try body(link)
        } catch {
            state.withLock { $0.trouble = error.message }
        }
    }

    /// Takes the next message; false where none comes in time.
    private func take(from link: CommandConnection, within time: Duration) throws(CommandFailure) -> Bool {
        guard let message = try link.next(timeout: time) else { return false }
        if let report = WorkerReport(parsing: message.body) { state.withLock { $0.picture.heard(report) } }
        // A stream keeps what was read; this only asks for more.
        try link.acknowledge(message, upToHere: true)
        return true
    }
}
