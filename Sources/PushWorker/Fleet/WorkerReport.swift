import FoundationEssentials
package import RabbitMQ
import Topology

/// What a worker tells operators of itself every two to ten seconds, through the stream of the fleet's reports.
///
/// It is JSON. Unknown members are ignored, so that later versions can say more. A worker that starts learns from these
/// reports what the others know of dead tokens (``FleetDeadTokens``). Nothing else is decided by them. Which routes a
/// worker serves follows from ``FleetReport`` alone.
package struct WorkerReport: Sendable, Equatable, Codable {
    /// What the worker says of one route that it serves.
    package struct Route: Sendable, Equatable, Codable {
        /// The route's name.
        package var name: String
        /// A ``RouteState``.
        package var state: String
        /// Why it is not ready; nil when all is well.
        package var reason: String?
        /// Whether the broker does not take what it publishes; nil for no, and from earlier versions.
        package var isRefused: Bool?
        /// A ``RouteLimit``.
        package var limitedBy: String
        /// Usable connections to APNs.
        package var connections: Int
        /// Requests without an answer.
        package var inFlight: Int
        /// Notifications that wait for a stream.
        package var waiting: Int
        /// Notifications that APNs accepted since the start.
        package var accepted: Int
        /// Whether results say `hold` instead of `drop_token`.
        package var holdsTokens: Bool
        /// What the worker knows of dead tokens; nil for nothing, and from earlier versions.
        package var deadTokens: DeadTokenKnowledge?

        /// Makes what is said of a route from its parts.
        package init(
            name: String, state: String, reason: String? = nil, isRefused: Bool? = nil, limitedBy: String = "nothing",
            connections: Int = 0, inFlight: Int = 0, waiting: Int = 0, accepted: Int = 0, holdsTokens: Bool = false,
            deadTokens: DeadTokenKnowledge? = nil
        ) {
            self.name = name
            self.state = state
            self.reason = reason
            self.isRefused = isRefused
            self.limitedBy = limitedBy
            self.connections = connections
            self.inFlight = inFlight
            self.waiting = waiting
            self.accepted = accepted
            self.holdsTokens = holdsTokens
            self.deadTokens = deadTokens
        }
    }

    /// How many notifications failed alike since the worker's start.
    package struct Failure: Sendable, Equatable, Codable {
        /// The outcome.
        package var outcome: String
        /// The reason; nil for none.
        package var reason: String?
        /// How many there were.
        package var count: Int

        /// Makes a count from its parts.
        package init(outcome: String, reason: String?, count: Int) {
            self.outcome = outcome
            self.reason = reason
            self.count = count
        }
    }

    /// The property `type` of a message with a report, and its member `type`.
    package static let messageType = "martlet.worker"
    /// The form of a report. Another version would have another meaning.
    package static let formVersion = 1
    /// The longest report that is read, in bytes.
    package static let maximumLength = 1 << 17
    /// The most routes that a report names: those that do not work or hold tokens, then those with the most work.
    package static let mostRoutes = 100
    /// The most reasons and failures that a report names.
    package static let mostReasons = 10
    /// The longest reason, in Unicode scalars. With each of them escaped, a report keeps within its length.
    package static let longestReason = 144
    /// The largest number that a report may state, so that those of all workers can be added up.
    package static let greatestNumber = 1_000_000_000_000

    private var type = messageType
    private var version = formVersion
    /// The worker's name.
    package var instance: String
    /// The program's version.
    package var program: String
    /// When the worker was started, in milliseconds since 1970.
    package var startedAt: Int64
    /// When it reported, in milliseconds since 1970.
    package var sentAt: Int64
    /// Its setting `share`.
    package var share: String
    /// Where its admin server listens, such as `127.0.0.1:9090`; nil without one, and from earlier versions.
    package var admin: String?
    /// Why it is not ready, as `/readyz` says; empty when it is.
    package var reasons: [String]
    /// Why it cannot read what operators ask for; nil while it reads that, and from earlier versions.
    package var control: String?
    /// Whether it stops. It reports no more then.
    package var isDraining: Bool
    /// Notifications that APNs accepted since the start, of all routes.
    package var accepted: Int
    /// Requests without an answer, of all routes.
    package var inFlight: Int
    /// The routes that it serves.
    package var routes: [Route]
    /// How many more routes it serves than it names.
    package var moreRoutes: Int
    /// The most frequent failures.
    package var failures: [Failure]

    /// Makes a report from its parts.
    package init(
        instance: String, program: String, startedAt: Int64, sentAt: Int64, share: String = "all",
        admin: String? = nil, reasons: [String] = [], control: String? = nil, isDraining: Bool = false,
        accepted: Int = 0, inFlight: Int = 0, routes: [Route] = [], moreRoutes: Int = 0, failures: [Failure] = []
    ) {
        self.instance = instance
        self.program = program
        self.startedAt = startedAt
        self.sentAt = sentAt
        self.share = share
        self.admin = admin
        self.reasons = reasons
        self.control = control
        self.isDraining = isDraining
        self.accepted = accepted
        self.inFlight = inFlight
        self.routes = routes
        self.moreRoutes = moreRoutes
        self.failures = failures
    }

    /// Reads a report; nil for anything else, and for one that states impossible values.
    package init?(parsing body: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard body.count <= Self.maximumLength, let report = try? decoder.decode(Self.self, from: Data(body)),
            report.type == Self.messageType, report.version == Self.formVersion, report.isPossible
        else { return nil }
        self = report
    }

    /// Whether it has a name, lists no longer than they may be, names of routes as a configuration may have them, and
    /// numbers that can be added up. Commands that operators are told to run have the names of routes in them.
    private var isPossible: Bool {
        let counts =
            [accepted, inFlight, moreRoutes] + failures.map(\.count)
            + routes.flatMap { [$0.connections, $0.inFlight, $0.waiting, $0.accepted] }
        // Until the year 5138.
        let times: Range<Int64> = 0..<100_000_000_000_000
        let arePossible = routes.allSatisfy {
            TopologyNames.isRouteName($0.name) && $0.deadTokens?.isPossible != false
        }
        return arePossible && !instance.isEmpty && routes.count <= Self.mostRoutes && failures.count <= Self.mostReasons
            && reasons.count <= Self.mostReasons && times.contains(startedAt) && times.contains(sentAt)
            && counts.allSatisfy { (0...Self.greatestNumber).contains($0) }
    }

    /// The report as JSON.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// Whether a message says that it carries such a report.
    package static func isCarried(by delivery: Delivery) -> Bool {
        guard let properties = try? MessagePropertyReader(delivery.bytes, delivery.properties),
            let type = properties.type
        else { return false }
        return delivery.bytes[type].elementsEqual(messageType.utf8)
    }
}
