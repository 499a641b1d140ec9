import APNSClient
import EventLoop
import Logging
import Synchronization

/// The outages of one route: of the hosts that it sends to, and of its channels. All lanes of the route share them, so
/// that the log tells an outage once and not once for each lane.
///
/// The first lane for which the thing works again ends the outage. Safe on any thread. A lock is taken only when a connect to a
/// host has ended, a channel was closed, or a consumer has started.
final class RouteOutages: Sendable {
    private struct State {
        var hosts: [Destination.Kind: OutageLog] = [:]
        var channels = OutageLog()
    }

    private let state = Mutex(State())

    /// Notes whether a host could be reached.
    ///
    /// - Parameters:
    ///   - kind: Which of the route's hosts it is.
    ///   - failure: Why it could not be reached; nil where it could.
    ///   - now: The time.
    /// - Returns: What the log has to tell; nil for nothing.
    func reached(_ kind: Destination.Kind, _ failure: APNSClientError?, now: MonotonicTime) -> OutageLog.News? {
        let failure = failure.map { (kind: $0.code.description, text: $0.message) }
        return state.withLock { $0.hosts[kind, default: OutageLog()].note(failure: failure, now: now) }
    }

    /// The broker closed a lane's channel.
    ///
    /// - Returns: The level at which the log tells it.
    func channelClosed(code: UInt16, text: String, now: MonotonicTime) -> Logger.Level {
        state.withLock { $0.channels.failed("\(code) \(text)", now: now) }
    }

    /// The broker cancelled a consumer of a lane's channel.
    ///
    /// - Returns: The level at which the log tells it.
    func consumerCancelled(now: MonotonicTime) -> Logger.Level {
        state.withLock { $0.channels.failed("cancelled", now: now) }
    }

    /// A lane whose channel was closed consumes all queues of the route again.
    ///
    /// - Returns: The trouble with the channels that is over; nil without one.
    func consumes(now: MonotonicTime) -> OutageLog.Ended? { state.withLock { $0.channels.works(now: now) } }
}
