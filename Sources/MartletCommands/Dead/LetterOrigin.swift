import PushModel
import Rig
import Topology

/// Who wrote a dead letter, and the key of its job, as far as no producer can forge it: a pure value.
///
/// - A worker takes `x-death` off what it publishes, and only workers may publish to `apns.dead`. RabbitMQ writes its
///   own entry of `x-death` first, with its queue and reason. So a letter whose `x-death` names a queue of jobs is
///   RabbitMQ's, and has every other header as the producer wrote it.
/// - RabbitMQ gives its letter the key that the job had in the queue, and a topic permission held for that key. The keys
///   and the exchange in `x-death` are weaker: where a producer wrote an entry of the same queue and reason,
///   RabbitMQ up to 3.13 keeps what it says. So there nothing proves that the permission was asked for.
struct LetterOrigin: Equatable {
    /// Why nobody knows for certain with which key the job was published.
    enum Doubt: Error, Equatable {
        /// The letter, or the job before, was moved by hand, and has the name of a queue as its key.
        case moved
        /// RabbitMQ kept the key in `x-death` only.
        case unproven
        /// The job came through an exchange on which no permission for the topics of jobs holds.
        case foreignExchange(String)
        /// The broker lets producers write `x-death`. So the job may have come, with this key, by an exchange of theirs.
        case forgeable(String)
        /// Somebody's dead-lettering led the job to where it died.
        case foreignQueue(String)
    }

    /// RabbitMQ's account of the death in a queue of jobs; nil for a worker's letter.
    let account: BrokerMessage.Death?
    /// The key that the job was published with.
    let key: Result<String, Doubt>

    /// The exchanges through which jobs come into their queues, with a key that a producer was allowed to use. The
    /// default exchange is among them because a producer has no right to publish there.
    private static let trusted: Set<String> = [
        "", TopologyNames.jobs, TopologyNames.movingJobs, TopologyNames.returns, TopologyNames.movingReturns,
    ]

    /// Finds out.
    ///
    /// - Parameters:
    ///   - exchange: The exchange that the letter was published to.
    ///   - routingKey: The key that it was published with.
    ///   - deaths: Its `x-death`.
    ///   - keptKey: Its `x-apns-original-routing-key`.
    ///   - provesDeaths: Whether the broker lets nobody else write `x-death`.
    init(
        exchange: String, routingKey: String, deaths: [BrokerMessage.Death], keptKey: String?, provesDeaths: Bool
    ) {
        func isJobKey(_ key: String) -> Bool {
            let bytes = Array(key.utf8)
            return JobRoutingKey(0..<bytes.count, in: bytes.span) != nil
        }
        let place = deaths.firstIndex { TopologyNames.isJobQueue($0.queue ?? "") }
        // Of workers, a letter's key begins with an outcome.
        let isFromBroker = place != nil || exchange == TopologyNames.dead && isJobKey(routingKey)
        guard isFromBroker else {
            account = nil
            let key = keptKey ?? routingKey
            self.key = key.hasPrefix(TopologyNames.queuePrefix) ? .failure(.moved) : .success(key)
            return
        }
        let account = place.map { deaths[$0] } ?? BrokerMessage.Death()
        self.account = account
        let earlier = deaths[(place.map { $0 + 1 } ?? 0)...].compactMap(\.queue)
        if let stranger = earlier.first(where: { !TopologyNames.holdsJobs($0) }) {
            key = .failure(.foreignQueue(stranger))
        } else if let way = account.exchange, !Self.trusted.contains(way) {
            key = .failure(.foreignExchange(way))
        } else if account.exchange == nil {
            // Its headers cannot be read, or say nothing of the way.
            key = .failure(.unproven)
        } else if isJobKey(routingKey) {
            key = provesDeaths ? .success(routingKey) : .failure(.forgeable(routingKey))
        } else {
            key = .failure(exchange == TopologyNames.dead && account.exchange != "" ? .unproven : .moved)
        }
    }
}
