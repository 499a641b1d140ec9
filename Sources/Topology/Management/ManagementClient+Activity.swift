import Foundation

extension ManagementAnswers {
    /// How fast a number grows.
    struct Rate: Decodable {
        let rate: Double?
    }

    /// The recent traffic of a queue.
    struct Traffic: Decodable {
        let publish: Rate?
        let delivery: Rate?

        enum CodingKeys: String, CodingKey {
            case publish = "publish_details"
            case delivery = "deliver_get_details"
        }
    }

    /// An element of `/api/queues/<vhost>`: the parts that tell what goes on. A queue whose node is down has only a
    /// name.
    struct BusyQueue: Element {
        let vhost: String?
        let name: String
        let type: String?
        let state: String?
        let leader: String?
        let members: [String]?
        let ready: Int?
        let unacknowledged: Int?
        let consumers: Int?
        let bytes: Int?
        let traffic: Traffic?
        let arguments: Arguments?
        let policy: Arguments?

        enum CodingKeys: String, CodingKey {
            case vhost, name, type, state, leader, members, consumers, arguments
            case ready = "messages_ready"
            case unacknowledged = "messages_unacknowledged"
            case bytes = "message_bytes"
            case traffic = "message_stats"
            case policy = "effective_policy_definition"
        }
    }

    /// An element of `/api/nodes`. A node that is down has little more than a name.
    struct Node: Decodable {
        let name: String
        let running: Bool?
        /// In milliseconds.
        let uptime: Int64?
        let memoryAlarm: Bool?
        let diskAlarm: Bool?
        let memory: Int?
        let memoryLimit: Int?
        let freeDisk: Int?

        enum CodingKeys: String, CodingKey {
            case name, running, uptime
            case memoryAlarm = "mem_alarm"
            case diskAlarm = "disk_free_alarm"
            case memory = "mem_used"
            case memoryLimit = "mem_limit"
            case freeDisk = "disk_free"
        }
    }

    /// `/api/overview`.
    struct Overview: Decodable {
        let version: String?

        enum CodingKeys: String, CodingKey {
            case version = "rabbitmq_version"
        }
    }
}

extension ManagementClient {
    /// The activity in a virtual host, and the state of the broker's nodes. By default, RabbitMQ takes these numbers
    /// every five seconds.
    ///
    /// - Parameter virtualHost: The virtual host.
    /// - Returns: The activity. It is without nodes if the user may not see them, which needs the tag `monitoring`.
    /// - Throws: If the queues cannot be seen, or if the nodes cannot be seen for another reason than a refusal.
    package func activity(virtualHost: String) async throws(ManagementError) -> BrokerActivity {
        let queues = try await list("queues", virtualHost, of: ManagementAnswers.BusyQueue.self)
        var nodes: [ManagementAnswers.Node]?
        do throws(ManagementError) {
            nodes = try await list(["nodes"], of: [ManagementAnswers.Node].self)
        } catch {
            guard error.code == .refused else { throw error }
        }
        let overview = try? await list(["overview"], of: ManagementAnswers.Overview.self)
        return BrokerActivity(overview: overview, queues: queues, nodes: nodes)
    }
}

extension BrokerActivity {
    /// Puts the API's answers together.
    init(
        overview: ManagementAnswers.Overview?, queues: [ManagementAnswers.BusyQueue], nodes: [ManagementAnswers.Node]?
    ) {
        self.init(
            version: overview?.version, queues: queues.map(Queue.init).sorted { $0.name < $1.name },
            nodes: nodes?.map { node in
                Node(
                    name: node.name, isRunning: node.running,
                    uptime: node.uptime.map { .milliseconds($0) }, hasMemoryAlarm: node.memoryAlarm,
                    hasDiskAlarm: node.diskAlarm, memory: node.memory, memoryLimit: node.memoryLimit,
                    freeDisk: node.freeDisk)
            })
    }
}

extension BrokerActivity.Queue {
    /// Takes what the API says of a queue.
    init(_ queue: ManagementAnswers.BusyQueue) {
        // The broker tells the arguments always, and the policy with its statistics.
        var settings = queue.policy?.values.mapValues(\.value)
        for (name, value) in queue.arguments?.values ?? [:] where name.hasPrefix("x-") {
            settings?[String(name.dropFirst(2))] = value.value
        }
        self.init(
            name: queue.name, kind: queue.type, state: queue.state, leader: queue.leader,
            members: queue.members, ready: Self.possible(queue.ready),
            unacknowledged: Self.possible(queue.unacknowledged), consumers: Self.possible(queue.consumers),
            bytes: Self.possible(queue.bytes),
            publishRate: Self.possible(queue.traffic?.publish?.rate),
            deliveryRate: Self.possible(queue.traffic?.delivery?.rate), settings: settings)
    }

    /// The largest number that is believed of a queue, so that the numbers of all queues can be added up.
    static let greatestNumber = 100_000_000_000_000

    private static func possible(_ number: Int?) -> Int? { number.map { min(max($0, 0), greatestNumber) } }

    private static func possible(_ rate: Double?) -> Double? { rate.map { min(max($0, 0), Double(greatestNumber)) } }
}
