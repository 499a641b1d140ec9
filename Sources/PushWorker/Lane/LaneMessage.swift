internal import APNSClient
internal import BrokerClient
internal import EventLoop
internal import RabbitMQ

/// What other threads may say to a lane. Nothing else of a lane is touched from outside.
enum LaneMessage: Sendable {
    /// A helper thread looked the brokers up; with the number of the look-up.
    case brokersFound(BrokerRole, number: Int, Result<[BrokerTarget], AMQPError>)
    /// A helper thread finished a connect to a destination of the route at this position.
    case apnsConnected(
        route: Int, Destination.Kind, ConnectRequest, Transfer<Result<EstablishedConnection, APNSClientError>>)
    /// A credential's files hold a new version.
    case credentialChanged(APNSCredential)
    /// A credential's files still cannot be used, as they never could.
    case credentialUnusable(name: String, reason: String)
    /// APNs refused a version of a credential on some route.
    case credentialRefused(name: String, version: Int)
    /// These routes are served from now on, and no others.
    case served(ServedRoutes)
    /// A message from the same route on another lane; with the route's position in the configuration.
    case route(Int, RouteMessage)
    /// All lanes are drained: end.
    case allDrained
    /// Stop taking jobs, finish or hand back what is in flight, and end before the deadline.
    case drain(deadline: MonotonicTime)
}

/// Hands a value that belongs to one thread at a time from a helper thread to a lane.
///
/// The maker keeps no reference, and `take()` gives the value out once. So the value never belongs to two threads.
// The mailbox's mutex orders the maker's last access before the taker's first.
final class Transfer<Value>: @unchecked Sendable {
    private var value: Value?

    /// Wraps a value the maker no longer touches.
    init(_ value: consuming Value) { self.value = value }

    /// Gives the value out; nil the second time.
    func take() -> Value? {
        defer { value = nil }
        return value
    }
}
