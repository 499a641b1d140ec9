import PushWorker
import Text
import Topology

/// Everything that `martlet status` knows at one moment. Its text and its advice follow from these facts.
struct StatusFacts: Equatable {
    /// How many dead letters of one queue have the same outcome and reason.
    struct Letters: Equatable {
        /// The queue.
        var queue: String
        /// The outcome, or the broker's reason.
        var outcome: String
        /// The reason; nil for none.
        var reason: String?
        /// How many there are.
        var count: Int
    }

    /// What the broker's lists of objects say.
    struct Objects: Equatable {
        /// The queues that must be there.
        var queues: [String] = []
        /// The exchanges that must be there and are not.
        var missingExchanges: [String] = []
        /// The operator policies that change queues of the contract.
        var operatorPolicies: [OperatorPolicyEffect] = []
        /// The ways of others into the contract, without those that `jobs.from` vouches for.
        var foreignWays: [ForeignWay] = []
        /// Whether `jobs.from` is known.
        var knowsTrusted = true
    }

    /// The time in milliseconds since 1970.
    var at: Int64
    /// The address of the management API, without user and password.
    var place: String
    /// The virtual host.
    var virtualHost = "/"
    /// What the broker says.
    var activity: BrokerActivity
    /// What the broker's objects say; nil where the user may not see them.
    var objects: Objects?
    /// What the workers say.
    var fleet = FleetPicture()
    /// Whether reports and commands are still being read. Then nothing is known of workers and commands.
    var isCatchingUp = false
    /// Why the workers' reports cannot be read; nil where they can.
    var fleetTrouble: String?
    /// The operators' commands to all workers.
    var control = ControlPicture()
    /// Why the operators' commands cannot be read; nil where they can.
    var controlTrouble: String?
    /// The dead letters by reason; nil without `--reasons`.
    var letters: [Letters]?
    /// The configuration file to name in commands; nil where none was named.
    var configuration: String?

    /// The end of commands that take a configuration.
    var configurationOption: String { "--config \(configuration ?? "martlet.yaml")" }

    /// The queue of this name; nil if the broker does not list it.
    ///
    /// - Parameter name: The name.
    func queue(_ name: String) -> BrokerActivity.Queue? { activity.queues.first { $0.name == name } }

    /// The queues in which jobs wait for their time.
    var holdingQueues: [BrokerActivity.Queue] {
        activity.queues.filter { TopologyNames.isHoldingQueue($0.name) }
    }

    /// The queues of dead letters, with how many each holds.
    var deadLetters: [(queue: String, count: Int?)] {
        [TopologyNames.deadQueue, TopologyNames.deadTokensQueue].compactMap { name in
            guard let queue = queue(name) else { return nil }
            return (name, queue.ready.map { $0 +| (queue.unacknowledged ?? 0) })
        }
    }
}
