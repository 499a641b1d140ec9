import APNSClient
import BrokerClient
import EventLoop
import RabbitMQ

/// What other threads may say to a lane. Nothing else of a lane is touched from outside.
enum LaneMessage: Sendable {
    /// A helper thread looked the brokers up; with the number of the look-up.
    case brokersFound(BrokerLink.Role, number: Int, Result<[BrokerTarget], AMQPError>)
    /// A helper thread finished a connect to a destination of the route at this position.
    case apnsConnected(
        route: Int, Destination.Kind, ConnectRequest, Transfer<Result<EstablishedConnection, APNSClientError>>)
    /// A credential's files hold a new version.
    case credentialChanged(APNSCredential)
    /// The files of a credential could never be used, and still cannot be used.
    case credentialUnusable(name: String, reason: String)
    /// APNs refused a version of a credential on some route.
    case credentialRefused(name: String, version: Int)
    /// These routes are served from now on, and no others.
    case served(ServedRoutes)
    /// This is what operators want from now on.
    case control(ControlState)
    /// This worker's parts of the rates that operators set for all workers, by the routes' names.
    case fleetRates([String: FleetRates.Part])
    /// The lane has another route from now on.
    case added(LaneSettings.RouteSettings)
    /// The route of this number takes no more jobs and finishes what it has.
    case removed(Int)
    /// The route of this number may send so many notifications a second from now on; nil for no limit.
    case rate(Int, Double?)
    /// Stop taking jobs, finish or hand back what is in flight, and end before the deadline.
    case drain(deadline: MonotonicTime)
}
