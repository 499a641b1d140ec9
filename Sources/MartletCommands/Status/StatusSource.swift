import EventLoop
import FoundationEssentials
import PushWorker
import RabbitMQ
import Rig
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
    /// The workers' reports.
    let reader: FleetReader
    /// The operators' commands.
    let control: ControlStreamReader

    /// Prepares a source; nothing is asked yet.
    ///
    /// - Parameters:
    ///   - endpoints: Where the broker is.
    ///   - client: Its management API.
    ///   - configuration: The configuration file; nil where none was named.
    init(endpoints: [AMQPEndpoint], client: ManagementClient, configuration: String?) {
        self.endpoints = endpoints
        self.client = client
        self.configuration = configuration
        reader = FleetReader(endpoints)
        control = ControlStreamReader(endpoints)
    }

    /// Whether reports or commands are still being read from their beginning.
    var isCatchingUp: Bool { reader.isCatchingUp || control.isCatchingUp }

    /// Asks the management API, and adds the reports and commands, once all of them were read: by the oldest reports
    /// alone, every worker would seem silent.
    ///
    /// - Parameter letters: The dead letters by reason, where they were counted.
    /// - Throws: The failure of the management API as a failure of the command.
    func facts(letters: [StatusFacts.Letters]? = nil) async throws(CommandFailure) -> StatusFacts {
        let virtualHost = endpoints.first?.virtualHost ?? "/"
        let activity: BrokerActivity
        do throws(ManagementError) {
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
