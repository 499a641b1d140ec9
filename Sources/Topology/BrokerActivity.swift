/// The activity in a broker's virtual host now, and the state of the broker's nodes.
///
/// What the broker does not tell is nil, and means nothing. It does not tell much of a queue that was made a moment ago,
/// after a start of its node, and where its statistics are off.
package struct BrokerActivity: Sendable, Equatable {
    /// A queue and its traffic.
    package struct Queue: Sendable, Equatable {
        /// The name.
        package var name: String
        /// `quorum`, `classic` or `stream`.
        package var kind: String?
        /// `running`, or why it does not work, such as `down` or `minority`.
        package var state: String?
        /// The node that leads it, for a quorum queue or a stream; empty where none does.
        package var leader: String?
        /// The nodes that keep it, for a quorum queue or a stream; nil where the broker does not tell.
        package var members: [String]?
        /// Messages that wait.
        package var ready: Int?
        /// Messages that are delivered and not acknowledged.
        package var unacknowledged: Int?
        /// Consumers.
        package var consumers: Int?
        /// The length of the bodies of all its messages, in bytes.
        package var bytes: Int?
        /// Messages published to it per second.
        package var publishRate: Double?
        /// Messages delivered from it per second.
        package var deliveryRate: Double?
        /// The settings in effect by their policy keys: those of the policy, and those of its declaration, which win.
        package var settings: [String: TopologyValue]?

        /// How many bytes the bodies of its messages may have; nil for no limit, or if it is not known.
        package var byteLimit: Int64? {
            guard case .integer(let limit) = settings?["max-length-bytes"] else { return nil }
            return limit
        }

        /// Makes a queue from its parts.
        package init(
            name: String, kind: String? = "quorum", state: String? = "running", leader: String? = "rabbit@one",
            members: [String]? = nil, ready: Int? = 0, unacknowledged: Int? = 0, consumers: Int? = 0, bytes: Int? = 0,
            publishRate: Double? = nil, deliveryRate: Double? = nil, settings: [String: TopologyValue]? = [:]
        ) {
            self.name = name
            self.kind = kind
            self.state = state
            self.leader = leader
            self.members = members
            self.ready = ready
            self.unacknowledged = unacknowledged
            self.consumers = consumers
            self.bytes = bytes
            self.publishRate = publishRate
            self.deliveryRate = deliveryRate
            self.settings = settings
        }
    }

    /// A node of the broker's cluster.
    package struct Node: Sendable, Equatable {
        /// The name.
        package var name: String
        /// Whether it runs.
        package var isRunning: Bool?
        /// For how long it has run; nil where that is not known, as in its first seconds.
        package var uptime: Duration?
        /// Whether it is short of memory, so that nobody may publish.
        package var hasMemoryAlarm: Bool?
        /// Whether it is short of disk, so that nobody may publish.
        package var hasDiskAlarm: Bool?
        /// The memory in use, in bytes.
        package var memory: Int?
        /// The memory at which it raises the alarm, in bytes.
        package var memoryLimit: Int?
        /// The free space on its disk, in bytes.
        package var freeDisk: Int?

        /// Makes a node from its parts.
        package init(
            name: String, isRunning: Bool? = true, uptime: Duration? = nil, hasMemoryAlarm: Bool? = false,
            hasDiskAlarm: Bool? = false, memory: Int? = nil, memoryLimit: Int? = nil, freeDisk: Int? = nil
        ) {
            self.name = name
            self.isRunning = isRunning
            self.uptime = uptime
            self.hasMemoryAlarm = hasMemoryAlarm
            self.hasDiskAlarm = hasDiskAlarm
            self.memory = memory
            self.memoryLimit = memoryLimit
            self.freeDisk = freeDisk
        }
    }

    /// RabbitMQ's version; nil where the API does not tell.
    package var version: String?
    /// The virtual host's queues, by name.
    package var queues: [Queue]
    /// The nodes; nil where the user may not see them.
    package var nodes: [Node]?

    /// Makes a picture from its parts.
    package init(version: String? = nil, queues: [Queue] = [], nodes: [Node]? = nil) {
        self.version = version
        self.queues = queues
        self.nodes = nodes
    }
}
