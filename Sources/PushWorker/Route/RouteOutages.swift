import APNSClient
import EventLoop
import Logging

/// The outages of one route: of the hosts that it sends to, and of its channel. The log tells each once.
///
/// A class, because the route and its channel share it. Confined to its lane.
final class RouteOutages {
    private var hosts: [Destination.Kind: OutageLog] = [:]
    private var channel = OutageLog()

    /// Notes whether a host could be reached.
    ///
    /// - Parameters:
    ///   - kind: Which of the route's hosts it is.
    ///   - failure: Why it could not be reached; nil where it could.
    ///   - now: The time.
    /// - Returns: What the log has to tell; nil for nothing.
    func reached(_ kind: Destination.Kind, _ failure: APNSClientError?, now: MonotonicTime) -> OutageLog.News? {
        let failure = failure.map { (kind: $0.code.description, text: $0.message) }
        return hosts[kind, default: OutageLog()].note(failure: failure, now: now)
    }

    /// The broker closed the channel.
    ///
    /// - Returns: The level at which the log tells it.
    func channelClosed(code: UInt16, text: String, now: MonotonicTime) -> Logger.Level {
        channel.failed("\(code) \(text)", now: now)
    }

    /// The broker cancelled a consumer of the channel.
    ///
    /// - Returns: The level at which the log tells it.
    func consumerCancelled(now: MonotonicTime) -> Logger.Level {
        channel.failed("cancelled", now: now)
    }

    /// All queues of the route are consumed again.
    ///
    /// - Returns: The trouble with the channel that is over; nil without one.
    func consumes(now: MonotonicTime) -> OutageLog.Ended? { channel.works(now: now) }
}
