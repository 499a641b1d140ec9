import HTTPTypes
import Hummingbird
import NIOCore

/// What the page shows at its top.
struct OverviewView: Encodable {
    /// The connections of the gateway, of broadcast channel management and of the port for publishing alone.
    struct Connections: Encodable {
        /// How many are open.
        var open: Int
        /// How many there were since the start.
        var accepted: Int
    }

    /// How often one kind of answer was given.
    struct Answer: Encodable {
        /// The status; 0 where there was no answer.
        var status: Int
        /// The reason, or what happened instead of an answer; empty for success.
        var reason: String
        /// How often.
        var count: Int
    }

    /// The numbers of devices.
    struct Devices: Encodable {
        /// How many were activated.
        var activated: Int
        /// How many are connected.
        var online: Int
        /// The port they connect to; 0 without one.
        var port: Int
    }

    /// `development` or `production`.
    var environment: String
    /// The connections.
    var connections: Connections
    /// The concurrent streams announced, before and after the first good push.
    var streams: [UInt32]
    /// How many requests there were.
    var requests: Int
    /// A count for each kind of answer.
    var answers: [Answer]
    /// The devices; nil where the simulator has none.
    var devices: Devices?
    /// What cannot be written at present; nil where everything can be. While the journal of notifications cannot be
    /// written, pushes that may have to wait for a device are answered 500.
    var storageTrouble: String?

    /// Describes a simulator.
    ///
    /// - Parameter service: What its connections share.
    init(_ service: PushService) {
        let counters = service.counters
        environment = service.configuration.environment.rawValue
        connections = Connections(open: counters.connectionsOpen, accepted: counters.connectionsAccepted)
        streams = [service.configuration.streams.initial, service.configuration.streams.full]
        requests = service.ledger.total + counters.acceptedWithoutLooking
        answers = Self.answers(service)
        devices = service.devices?.summary
        storageTrouble = service.health.trouble
    }

    /// A count for each kind of answer.
    ///
    /// - Parameter service: What all connections share.
    /// - Returns: The counts in the order of first occurrence; last the 200 of the fast path, if there were any.
    static func answers(_ service: PushService) -> [Answer] {
        var answers = service.ledger.counts.map { Answer(status: $0.status, reason: $0.label, count: $0.count) }
        let unseen = service.counters.acceptedWithoutLooking
        if unseen > 0 { answers.append(Answer(status: 200, reason: "", count: unseen)) }
        return answers
    }
}
