import EventLoop
import FoundationEssentials
import PushWorker
import RabbitMQ
import Rig
import Synchronization
import Topology
import WorkerSettings

/// The sources of a status: the management API, the workers' reports, the operators' commands, and with `--reasons` the
/// dead letters.
struct StatusSource: Sendable {
    /// How many kinds of dead letters are counted apart in a queue. Further kinds count as `other`.
    static let mostKinds = 64

    /// Where the broker is.
    let endpoints: [AMQPEndpoint]
    /// The management API.
    let client: ManagementClient
    /// The configuration file; nil where none was named.
    let configuration: String?
    /// What the broker must hold for the configuration; nil without one.
    let topology: BrokerTopology?
    /// The workers' reports.
    let reader: FleetReader
    /// The operators' commands.
    let control: ControlStreamReader
    private let lists = Lists()

    /// Prepares a source; nothing is asked yet.
    ///
    /// - Parameters:
    ///   - endpoints: Where the broker is.
    ///   - client: Its management API.
    ///   - configuration: The configuration file; nil where none was named.
    ///   - topology: What the broker must hold for the configuration; nil without one.
    init(
        endpoints: [AMQPEndpoint], client: ManagementClient, configuration: String?, topology: BrokerTopology? = nil
    ) {
        self.endpoints = endpoints
        self.client = client
        self.configuration = configuration
        self.topology = topology
        reader = FleetReader(endpoints)
        control = ControlStreamReader(endpoints)
    }

    /// Whether reports or commands are still being read from their beginning.
    var isCatchingUp: Bool { reader.isCatchingUp || control.isCatchingUp }

    private var virtualHost: String { endpoints.first?.virtualHost ?? "/" }

    /// The lists of objects, as they were asked for last.
    private final class Lists: Sendable {
        /// How long they count. With many routes they are long, and what they say changes seldom.
        static let validity = Duration.seconds(30)

        let latest = Mutex<(objects: StatusFacts.Objects?, until: ContinuousClock.Instant)?>(nil)
    }

    /// What the broker's lists of objects say, at most half a minute ago; nil where the user may not see them.
    private func objects() async throws(ManagementError) -> StatusFacts.Objects? {
        if let latest = lists.latest.withLock(\.self), latest.until > .now { return latest.objects }
        let objects = try await newObjects()
        lists.latest.withLock { $0 = (objects, ContinuousClock.now.advanced(by: Lists.validity)) }
        return objects
    }

    private func newObjects() async throws(ManagementError) -> StatusFacts.Objects? {
        do throws(ManagementError) {
            let live = try await client.live(virtualHost: virtualHost)
            let queues = topology?.queues.map(\.name) ?? live.queuesOfAnyTopology
            let exchanges = Set((topology?.exchanges ?? []).map(\.name)).subtracting(live.exchanges.map(\.name))
            return StatusFacts.Objects(
                queues: queues, missingExchanges: exchanges.sorted(), operatorPolicies: live.operatorPolicyEffects,
                foreignWays: live.foreignWays(trusting: topology?.trustedExchanges ?? []),
                knowsTrusted: topology != nil)
        } catch {
            guard error.code == .refused else { throw error }
            return nil
        }
    }

    /// Asks the management API, and adds the reports and commands, once all of them were read: by the oldest reports
    /// alone, every worker would seem silent.
    ///
    /// - Parameter letters: The dead letters by reason, where they were counted.
    /// - Throws: The failure of the management API as a failure of the command.
    func facts(letters: [StatusFacts.Letters]? = nil) async throws(CommandFailure) -> StatusFacts {
        let (activity, objects): (BrokerActivity, StatusFacts.Objects?)
        do throws(ManagementError) {
            // In this order: a queue that is made in between is not missed.
            objects = try await self.objects()
            activity = try await client.activity(virtualHost: virtualHost)
        } catch {
            var failure = CommandFailure(error)
            if error.code == .unreachable {
                failure.remedy =
                    "Enable it with: rabbitmq-plugins enable rabbitmq_management; or say where it is with --management or "
                    + "MARTLET_BROKER_MANAGEMENT."
            }
            throw failure
        }
        // Asked before the news: what is complete now is complete in the news, too.
        let isCatchingUp = isCatchingUp
        let (picture, trouble) = reader.news
        let (commands, controlTrouble) = control.news
        return StatusFacts(
            at: JobIdentifier.now(), place: client.place, virtualHost: virtualHost, activity: activity,
            objects: objects,
            fleet: isCatchingUp ? FleetPicture() : picture, isCatchingUp: isCatchingUp, fleetTrouble: trouble,
            control: isCatchingUp ? ControlPicture() : commands, controlTrouble: controlTrouble, letters: letters,
            configuration: configuration)
    }

    /// Counts the dead letters of both queues by reason; blocks. Each letter is delivered and put back.
    func letters() throws(CommandFailure) -> [StatusFacts.Letters] {
        var all: [StatusFacts.Letters] = []
        for queue in [TopologyNames.deadQueue, TopologyNames.deadTokensQueue] {
            let link = try CommandConnection.open(endpoints, timeout: .seconds(10))
            defer { link.close() }
            var counts: [String: StatusFacts.Letters] = [:]
            let reading = try DeadCommand.read(queue, over: link) { letter throws(CommandFailure) in
                var key = "\(letter.outcome) \(letter.reason ?? "")"
                let isKnown = counts[key] != nil || counts.count < Self.mostKinds
                if !isKnown { key = "other" }
                let (outcome, reason) = isKnown ? (letter.outcome, letter.reason) : ("other", nil)
                counts[
                    key, default: StatusFacts.Letters(queue: queue, outcome: outcome, reason: reason, count: 0)
                ].count += 1
            }
            all += counts.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.value)
            let unread = reading.waiting - reading.seen
            if unread > 0 {
                all.append(StatusFacts.Letters(queue: queue, outcome: "not read", reason: nil, count: unread))
            }
        }
        return all
    }
}
