import EventLoop
import Foundation
import PushModel
import Text
import Topology

/// The jobs of a world, from their publication to their results.
final class Jobs {
    /// One job.
    struct Job {
        let id: String
        let notifications: Int
        let publishedAt: MonotonicTime
        var isConfirmed = false
        /// How many results each notification has, by outcome.
        var results: [Int: [String: Int]] = [:]

        /// The notifications without a result.
        var missing: [Int] { (0..<notifications).filter { results[$0] == nil } }
    }

    private unowned let world: World
    private(set) var all: [String: Job] = [:]
    /// The confirmed jobs that lack results.
    private(set) var open: Set<String> = []

    init(_ world: World) { self.world = world }

    var resultCount: Int { all.values.reduce(0) { $0 + $1.results.values.reduce(0) { $0 + $1.values.reduce(0, +) } } }

    // MARK: Producers

    /// Publishes a job.
    ///
    /// - Parameters:
    ///   - tokens: Its device tokens. With one of them it is a raw job, with more a multicast.
    ///   - topic: Its topic.
    ///   - isHigh: Whether its class is `high`.
    ///   - headers: More headers.
    func publish(_ tokens: [String], topic: String, isHigh: Bool, headers: [(String, String)] = []) {
        let id = "job-\(all.count + 1)"
        let key = "production.\(isHigh ? "high" : "normal").\(topic)"
        var properties = ModelProperties()
        properties[.messageID] = Array(id.utf8)
        properties[.deliveryMode] = [2]
        let payload = #"{"aps":{"alert":"\#(id)"}}"#
        var headers = headers.map { (name: $0.0, value: WireValue.text($0.1)) }
        let body: String
        if tokens.count == 1 {
            properties[.contentType] = Array("\(MessageName.rawContentType)".utf8)
            headers.append(("\(HeaderName.deviceToken)", .text(tokens[0])))
            body = payload
        } else {
            properties[.contentType] = Array("\(MessageName.jsonContentType)".utf8)
            let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
            body = #"{"id":"\#(id)","topic":"\#(topic)","device_tokens":[\#(list)],"payload":\#(payload)}"#
        }
        if !headers.isEmpty { properties.headers = WireTable(headers) }
        all[id] = Job(id: id, notifications: tokens.count, publishedAt: world.now)
        world.broker.publish(
            ModelMessage(
                exchange: TopologyNames.jobs, routingKey: key, properties: properties, body: Array(body.utf8),
                original: properties.bytes)
        ) { [unowned self] isStored in
            guard isStored else { return }
            all[id]?.isConfirmed = true
            open.insert(id)
        }
        world.peersSpoke = true
    }

    // MARK: Consumers of results

    /// Takes all results that wait.
    func takeResults() throws(World.Finding) {
        guard let queue = world.broker.queues[TopologyNames.resultsQueue(0)] else { return }
        while let entry = queue.get() {
            try note(entry.message)
            queue.acknowledged(entry)
        }
    }

    private func note(_ message: ModelMessage) throws(World.Finding) {
        let read = try? JSONSerialization.jsonObject(with: Data(message.body))
        let one = read as? [String: Any]
        let list = one?["results"] as? [[String: Any]] ?? one.map { [$0] } ?? []
        guard !list.isEmpty else {
            let text = String(decoding: message.body, as: UTF8.self)
            throw World.Finding(description: "a result that cannot be read: \(text)")
        }
        for result in list {
            guard let id = result["job_id"] as? String, let index = result["index"] as? Int,
                let outcome = result["outcome"] as? String, all[id] != nil
            else { throw World.Finding(description: "a result of no job: \(result)") }
            all[id]?.results[index, default: [:]][outcome, default: 0] += 1
            world.note(StableHash.of("\(id)/\(index)/\(outcome)"))
            if all[id]?.missing.isEmpty == true { open.remove(id) }
        }
    }
}
