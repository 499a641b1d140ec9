import PushWorker
import RabbitMQ
import Rig
import Topology

/// Reads the workers' reports from their stream.
typealias FleetReader = StreamReader<FleetPicture>

extension StreamReader where Picture == FleetPicture {
    /// Prepares a reader.
    ///
    /// - Parameter endpoints: Where the broker is.
    convenience init(_ endpoints: [AMQPEndpoint]) {
        // The five minutes of FleetPicture.memory.
        self.init(endpoints, TopologyNames.fleetQueue, from: "5m", into: FleetPicture()) { picture, message in
            if let report = WorkerReport(parsing: message.body) { picture.heard(report, at: JobIdentifier.now()) }
        }
    }
}
