import APNSClient
import BrokerClient
import EventLoop
import RabbitMQ
import WorkerSettings

/// What a lane needs from its machine: time, randomness, and the calls that may block. These calls answer later, from
/// any thread, through the lane's handle.
struct LaneSurroundings {
    /// The answer to a search for the brokers.
    typealias BrokersFound = @Sendable (Result<[BrokerTarget], AMQPError>) -> Void
    /// The answer to a request for a connection to APNs.
    typealias APNSConnected = @Sendable (Result<EstablishedConnection, APNSClientError>) -> Void

    /// The clocks.
    var time: any TimeSource = MachineTime()
    /// Randomness for waits and for ids.
    var random = Randomness()
    /// Says whether the worker is late after an outage of its broker.
    var outages = OutageDraw.Shared.ofProcess
    /// The longest wait of a turn when nothing is due. The watchdog and the clocks need a turn this often. A machine may
    /// have hundreds of workers without work, so the wait is not shorter.
    var longestWait = Duration.seconds(1)
    /// How long a lane that ends waits for the broker's last answer on each connection.
    var farewell = Duration.seconds(2)
    /// Finds the brokers, for connections with at least this many channels.
    var findBrokers: (BrokerConfiguration, Int, @escaping BrokersFound) -> Void = { broker, channels, found in
        BrokerSearch.start(broker, channels: channels, deliver: found)
    }
    /// Opens a connection to APNs.
    var connect: (APNSConnector, ConnectRequest, @escaping APNSConnected) -> Void = { connector, request, connected in
        HelperThread.run("martlet-apns") {
            connected(connector.result(of: request))
        } orElse: { error in
            connected(.failure(APNSClientError(.unreachable, error.message)))
        }
    }
}
