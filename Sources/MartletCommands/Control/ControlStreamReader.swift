import RabbitMQ
import Rig
import Topology

/// Reads the operators' commands from their stream.
typealias ControlStreamReader = StreamReader<ControlPicture>

extension StreamReader where Picture == ControlPicture {
    /// Prepares a reader.
    ///
    /// - Parameter endpoints: Where the broker is.
    convenience init(_ endpoints: [AMQPEndpoint]) {
        self.init(endpoints, TopologyNames.controlQueue, from: ControlPicture.offset, into: ControlPicture()) {
            $0.heard($1.body, at: JobIdentifier.now())
        }
    }
}
