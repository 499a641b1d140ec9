import EventLoop
import PushModel
import Text
import Topology

@testable import APNSSimulator

/// The jobs of a world, from their publication to their results.
final class Jobs {
    /// What a producer asks for.
    struct Wish {
        var tokens: [String]
        var topic: String
        var isHigh = false
        /// Milliseconds since 1970.
        var notBefore: Int64?
        /// Milliseconds since 1970.
        var deadline: Int64?
        /// Whether a push without an answer is reported, and not tried again.
        var reportsUnknown = false
        /// Whether it is an enveloped job even if it has one device token.
        var isEnveloped = false
        /// The campaign.
        var reference: String?
        /// Where replies go.
        var replyTo: String?

        var route: String { topic.hasSuffix("shop") ? "shop" : "bank" }
    }

    /// One result.
    struct Result {
        let outcome: String
        let isRedelivered: Bool
        let attempt: Int
        let detail: String
    }

    /// One job.
    struct Job {
        let id: String
        let wish: Wish
        let publishedAt: MonotonicTime
        /// When it was published, in milliseconds since 1970.
        let published: Int64
        var isConfirmed = false
        /// The results of each notification.
        var results: [Int: [Result]] = [:]
        /// The notifications with a result that the broker confirmed.
        var settled: Set<Int> = []
        /// The notifications that were replied to.
        var replied: Set<Int> = []
        /// Whether the broker delivered it more than once.
        var hasReturned = false
        /// When the latest notification had its first result.
        var answeredAt: MonotonicTime?

        /// The notifications without a result.
        var missing: [Int] { wish.tokens.indices.filter { results[$0] == nil } }
    }

    /// Queues for replies. The first one is bound to the exchange for replies.
    static let replyQueues = ["bound", "unbound"].map { TopologyNames.replyQueue(user: "world", id: $0) }

    private static let resultQueues = [TopologyNames.resultsQueue(0), TopologyNames.unclaimedResultsQueue]

    private unowned let world: World
    private(set) var all: [String: Job] = [:]
    /// The confirmed jobs that lack results.
    private(set) var open: Set<String> = []
    private(set) var resultCount = 0
    /// Whose each device token is.
    private(set) var owners: [String: (job: String, index: Int)] = [:]

    init(_ world: World) {
        self.world = world
        for queue in Self.replyQueues { world.broker.declareQueue(queue, .quorum) }
        world.broker.returned = { [unowned self] message in
            guard let id = message.properties[.messageID] else { return }
            all[String(decoding: id, as: UTF8.self)]?.hasReturned = true
        }
        world.broker.confirmed = { [unowned self] in confirmed($0) }
        world.broker.acknowledged = { [unowned self] in acknowledged($0, $1) }
        world.broker.exchanges[TopologyNames.replies]?.bind(
            ModelExchange.Binding(key: Self.replyQueues[0], destination: .queue(Self.replyQueues[0])))
    }

    // MARK: Producers

    /// Publishes a job. With one device token it is a raw job by default, with more a multicast.
    func publish(_ wish: Wish) {
        let id = "job-\(all.count + 1)"
        let key = "production.\(wish.isHigh ? "high" : "normal").\(wish.topic)"
        var properties = ModelProperties()
        properties[.messageID] = Array(id.utf8)
        properties[.deliveryMode] = [2]
        let payload = #"{"aps":{"alert":"\#(id)"}}"#
        var headers: [(name: String, value: WireValue)] = []
        func set(_ name: StaticString, _ value: String?) {
            if let value { headers.append(("\(name)", .text(value))) }
        }
        set(HeaderName.notBefore, wish.notBefore.map { "\($0)" })
        set(HeaderName.deadline, wish.deadline.map { "\($0)" })
        set(HeaderName.onUnknown, wish.reportsUnknown ? "report" : nil)
        let body: String
        if wish.tokens.count == 1, !wish.isEnveloped {
            properties[.contentType] = Array("\(MessageName.rawContentType)".utf8)
            set(HeaderName.deviceToken, wish.tokens[0])
            body = payload
        } else {
            properties[.contentType] = Array("\(MessageName.jsonContentType)".utf8)
            let list = wish.tokens.map { "\"\($0)\"" }.joined(separator: ",")
            body = #"{"id":"\#(id)","topic":"\#(wish.topic)","device_tokens":[\#(list)],"payload":\#(payload)}"#
        }
        set(HeaderName.reference, wish.reference)
        if let replyTo = wish.replyTo { properties[.replyTo] = Array(replyTo.utf8) }
        if !headers.isEmpty { properties.headers = WireTable(headers) }
        all[id] = Job(id: id, wish: wish, publishedAt: world.now, published: world.time.truth)
        for (index, token) in wish.tokens.enumerated() { owners[token] = (id, index) }
        world.broker.publish(
            ModelMessage(
                exchange: TopologyNames.jobs, routingKey: key, properties: properties, body: Array(body.utf8),
                original: properties.bytes)
        ) { [unowned self] isStored in
            guard isStored else { return }
            all[id]?.isConfirmed = true
            open.insert(id)
        }
    }

    // MARK: The order of confirms and acknowledgements

    private func confirmed(_ message: ModelMessage) {
        guard message.exchange == TopologyNames.results else { return }
        for result in ResultFields.read(message.body) {
            if let index = result.index { all[result.job]?.settled.insert(index) }
        }
    }

    /// Sees that nothing is acknowledged before all of it was confirmed: a notification without such a result still stands
    /// in a queue.
    private func acknowledged(_ message: ModelMessage, _ queue: ModelQueue) {
        guard Self.holdsJobs(queue), let (id, indexes) = notifications(of: message), let job = all[id] else { return }
        for index in indexes where !job.settled.contains(index) {
            let stands = world.broker.has { other, queue in
                guard Self.holdsJobs(queue), let (otherID, others) = notifications(of: other) else { return false }
                return otherID == id && others.contains(index)
            }
            guard !stands else { continue }
            return world.found("\(id)/\(index) was acknowledged in \(queue.name), and no result of it was confirmed")
        }
    }

    private static func holdsJobs(_ queue: ModelQueue) -> Bool {
        TopologyNames.holdsJobs(queue.name) || queue.name == TopologyNames.brokerLettersQueue
    }

    /// The notifications that a job, or a copy of it, is about.
    private func notifications(of message: ModelMessage) -> (job: String, indexes: [Int])? {
        guard let bytes = message.properties[.messageID] else { return nil }
        let id = String(decoding: bytes, as: UTF8.self)
        guard let count = all[id]?.wish.tokens.count else { return nil }
        guard let listed = message.properties.headers?["\(HeaderName.indexes)"]?.string,
            let ranges = IndexRanges.parse(Array(listed.utf8).span, limit: count)
        else { return (id, Array(0..<count)) }
        return (id, (0..<count).filter { ranges.next(from: $0, of: count) == $0 })
    }

    // MARK: Consumers of results

    /// Takes all results and replies that wait.
    func takeResults() throws(World.Finding) {
        for queue in queues(Self.resultQueues) where queue.readyCount > 0 {
            while let message = take(queue) {
                try read(message) { id, index, result throws(World.Finding) in note(id, index, result) }
            }
        }
        for queue in queues(Self.replyQueues) where queue.readyCount > 0 {
            while let message = take(queue) {
                try read(message) { id, index, _ throws(World.Finding) in all[id]?.replied.insert(index) }
            }
        }
    }

    private func queues(_ names: [String]) -> [ModelQueue] { names.compactMap { world.broker.queues[$0] } }

    private func take(_ queue: ModelQueue) -> ModelMessage? {
        guard let entry = queue.get() else { return nil }
        queue.acknowledged(entry)
        return entry.message
    }

    private func read(
        _ message: ModelMessage, _ take: (String, Int, Result) throws(World.Finding) -> Void
    ) throws(World.Finding) {
        let found = ResultFields.read(message.body)
        for result in found {
            guard all[result.job] != nil, let index = result.index, !result.outcome.isEmpty else {
                let text = String(decoding: message.body, as: UTF8.self)
                throw World.Finding(description: "a result of no job: \(text)")
            }
            try take(
                result.job, index,
                Result(
                    outcome: result.outcome, isRedelivered: result.isRedelivered, attempt: result.attempt,
                    detail: result.detail))
        }
    }

    private func note(_ id: String, _ index: Int, _ result: Result) {
        all[id]?.results[index, default: []].append(result)
        resultCount += 1
        world.tell("result of \(id)/\(index): \(result.outcome)\(result.isRedelivered ? ", redelivered" : "")")
        world.note(StableHash.of("\(id)/\(index)/\(result.outcome)"))
        guard all[id]?.missing.isEmpty == true, open.remove(id) != nil else { return }
        all[id]?.answeredAt = world.now
    }
}
