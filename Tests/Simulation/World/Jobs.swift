import EventLoop
import Foundation
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
    }

    /// One result.
    struct Result {
        let outcome: String
        let isRedelivered: Bool
        let attempt: Int
    }

    /// One job.
    struct Job {
        let id: String
        let wish: Wish
        var isConfirmed = false
        /// The results of each notification.
        var results: [Int: [Result]] = [:]

        /// The notifications without a result.
        var missing: [Int] { wish.tokens.indices.filter { results[$0] == nil } }
    }

    private unowned let world: World
    private(set) var all: [String: Job] = [:]
    /// The confirmed jobs that lack results.
    private(set) var open: Set<String> = []
    private(set) var resultCount = 0
    /// Whose each device token is.
    private var owners: [String: (job: String, index: Int)] = [:]

    init(_ world: World) { self.world = world }

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
        if !headers.isEmpty { properties.headers = WireTable(headers) }
        all[id] = Job(id: id, wish: wish)
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
        for result in one?["results"] as? [[String: Any]] ?? one.map({ [$0] }) ?? [[:]] {
            guard let id = result["job_id"] as? String, let index = result["index"] as? Int,
                let outcome = result["outcome"] as? String, all[id] != nil
            else {
                let text = String(decoding: message.body, as: UTF8.self)
                throw World.Finding(description: "a result of no job: \(text)")
            }
            let isRedelivered = result["redelivered"] as? Bool ?? false
            all[id]?.results[index, default: []].append(
                Result(outcome: outcome, isRedelivered: isRedelivered, attempt: result["attempt"] as? Int ?? 1))
            resultCount += 1
            world.tell("result of \(id)/\(index): \(outcome)\(isRedelivered ? ", redelivered" : "")")
            world.note(StableHash.of("\(id)/\(index)/\(outcome)"))
            if all[id]?.missing.isEmpty == true { open.remove(id) }
        }
    }

    // MARK: Judgement

    /// Says what must not be, once all is over.
    func judge() throws(World.Finding) {
        guard open.isEmpty else {
            let some = open.sorted().prefix(5).map { "\($0) \(all[$0]?.missing.prefix(3) ?? [])" }
            throw World.Finding(
                description: "\(open.count) confirmed jobs have no result: \(some.joined(separator: ", "))")
        }
        var pushes: [String: Int] = [:]
        for push in world.apns.service.ledger.records() {
            guard let owner = owners[push.token], let job = all[owner.job] else {
                throw World.Finding(description: "a push of nobody: \(push)")
            }
            try judge(push.time, of: job)
            if push.status == 200 { pushes[push.token, default: 0] += 1 }
        }
        for (token, count) in pushes.sorted(by: { $0.key < $1.key }) {
            guard let owner = owners[token], let job = all[owner.job] else { continue }
            try judge(pushesAccepted: count, of: job, owner.index)
        }
    }

    /// Judges the time of a push. It may have been on its way for as long as a connection stands still.
    private func judge(_ time: Int64, of job: Job) throws(World.Finding) {
        if let notBefore = job.wish.notBefore, time < notBefore {
            throw World.Finding(description: "\(job.id) was pushed \(notBefore - time) ms before its time")
        }
        if let deadline = job.wish.deadline, time > deadline + Self.flight {
            throw World.Finding(description: "\(job.id) was pushed \(time - deadline) ms after its deadline")
        }
        let route = job.wish.topic.hasSuffix("shop") ? "shop" : "bank"
        for pause in world.operators.pauses where pause.route == route {
            guard time > pause.from + Self.flight, time < pause.to else { continue }
            throw World.Finding(
                description: "\(job.id) was pushed \(time - pause.from) ms after its route was paused")
        }
    }

    /// How long a request may be under way, in milliseconds.
    private static let flight: Int64 = 200

    /// Whether a notification that APNs accepted more than once has a result that says why.
    private func judge(pushesAccepted count: Int, of job: Job, _ index: Int) throws(World.Finding) {
        guard count > 1, let results = job.results[index] else { return }
        if results.contains(where: \.isRedelivered) { return }
        if !job.wish.reportsUnknown, results.contains(where: { $0.attempt > 1 }) { return }
        throw World.Finding(
            description: "\(job.id)/\(index) was accepted \(count) times, and its results give no reason: \(results)")
    }
}
