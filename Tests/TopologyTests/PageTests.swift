import Foundation
import PushModel
import TestSupport
import Testing
import Topology

@Suite("The page about the broker's objects", .timeLimit(.minutes(1)))
struct PageTests {
    /// The objects for one route that has everything, under the names that the page has for them.
    private func topology(resultsQueues: Int = 1) -> BrokerTopology {
        let route = TopologyRoute(
            name: "<route>", environment: .production, topics: ["com.example.app"], highLane: true,
            resultsQueue: "apns.q.results.TEAM")
        return BrokerTopology(
            routes: [route], tiers: [false, true].map { RetryTier(milliseconds: 1_000, isHolding: $0) },
            resultsQueues: resultsQueues)
    }

    /// A name as the page writes it.
    private func written(_ name: String) -> String {
        let isTier = name.hasPrefix("apns.retry.") || name.hasPrefix("apns.q.retry.")
        return isTier ? name.replacing(".1s", with: ".<tier>") : name
    }

    /// The names of a cell; one that begins with a dot is the end of a name that begins as the first does.
    private func names(_ cell: String) -> [String] {
        let quoted = Page.quoted(cell)
        return quoted.map { $0.hasPrefix(".") ? (quoted.first ?? "") + $0 : $0 }
    }

    @Test("Operating lists the exchanges and queues that there are, and no other")
    func objects() throws {
        let topology = topology()
        let exchanges = topology.exchanges.map { (written($0.name), "\($0.kind.rawValue) exchange") }
        let queues = topology.queues.map { (written($0.name), $0.kind == .stream ? "stream" : "queue") }
        let kinds = Dictionary(uniqueKeysWithValues: exchanges + queues)
        let rows = try Page(documentation: "Operating").rows("object", in: "The broker's objects")
        #expect(rows.flatMap { names($0[0]) }.sorted() == kinds.keys.sorted())
        for row in rows {
            let real = names(row[0]).compactMap { kinds[$0] }
            let listed = row[1].components(separatedBy: ", ")
            // Where names and kinds are as many, each name has its kind; other rows give the kinds of all their names.
            if listed.count == real.count {
                #expect(listed == real, "\(row[0])")
            } else {
                let kind = { (text: String) in text.contains("exchange") ? "exchange" : "queue" }
                #expect(Set(listed.map(kind)) == Set(real.map(kind)), "\(row[0])")
            }
        }
    }

    @Test("Operating says of each queue what its policy sets, and of no other")
    func policies() throws {
        let topology = topology(resultsQueues: 3)
        let policies = Dictionary(topology.policies.filter { $0.scope == .queues }.map { ($0.name, $0) }) { $1 }
        var expected: [String: [String]] = [:]
        for queue in topology.queues {
            let policy = try #require(policies[queue.policy])
            let settings = Dictionary(uniqueKeysWithValues: policy.settings.map { ($0.key, $0.value) })
            expected[written(queue.name)] = cells(settings, of: queue)
        }
        var listed: [String: [String]] = [:]
        for row in try Page(documentation: "Operating").rows("queues", in: "The broker's objects") {
            let full = row[2].hasPrefix("refuse") ? "refuse" : row[2].hasPrefix("drop") ? "drop" : row[2]
            for name in names(row[0]) { listed[name] = [row[1], full, row[3], row[4], row[5]] }
        }
        for name in Set(expected.keys).union(listed.keys).sorted() {
            #expect(listed[name] == expected[name], "\(name)")
        }
    }

    /// The cells of a queue's row: length, when full, time to live, delivery limit, dead letters to.
    private func cells(_ settings: [String: TopologyValue], of queue: TopologyQueue) -> [String] {
        func text(_ key: String) -> String? {
            guard case .text(let text)? = settings[key] else { return nil }
            return text
        }
        func number(_ key: String) -> Int64? {
            guard case .integer(let number)? = settings[key] else { return nil }
            return number
        }
        let isTier = queue.name.hasPrefix("apns.q.retry.")
        let length = number("max-length-bytes")
        let full = length == nil ? "never full" : text("overflow") == "reject-publish" ? "refuse" : "drop"
        let time = isTier ? "the tier's delay" : number("message-ttl").map { "\($0 / 86_400_000) days" }
        let age = text("max-age").map {
            $0.replacing("m", with: " minutes").replacing("D", with: " days")
        }
        let limit = number("delivery-limit").map { $0 == 1_000_000 ? "1,000,000" : "\($0)" }
        return [
            length.map { $0 % (1 << 30) == 0 ? "\($0 >> 30) GiB" : "\($0 >> 20) MiB" } ?? "–", full,
            time ?? age ?? "–", limit ?? (isTier ? "the broker's default" : "–"),
            text("dead-letter-exchange").map { "`\($0)`" } ?? "–",
        ]
    }

    @Test("Operating lists the users that there are, and no other")
    func users() throws {
        let listed = try Page(documentation: "Operating").names("user", in: "The broker's objects")
        #expect(listed == BrokerRole.allCases.map(\.userName))
    }

    @Test("Operating says how many policies many routes have, and for what")
    func manyPolicies() throws {
        let routes = (0..<1_000).map {
            TopologyRoute(name: "app-\($0)", environment: .production, topics: ["com.example.app\($0)"])
        }
        let policy = RetryPolicy()
        let topology = BrokerTopology(routes: routes, tiers: RetryTier.all(of: policy))
        func used(_ prefix: String) -> Set<String> {
            Set(topology.queues.filter { $0.name.hasPrefix(prefix) }.map(\.policy))
        }
        let (ofRoutes, ofTiers) = (used("apns.q.jobs.app-"), used("apns.q.retry."))
        let exchanges = topology.policies.count { $0.scope == .exchanges }
        let others = topology.policies.count - ofRoutes.count - ofTiers.count - exchanges
        let costs = try Page(documentation: "Operating").rows("what", in: "What many routes and workers cost")
        let row = try #require(costs.first { $0[0] == "policies at the broker, 1,000 routes" })
        #expect(
            row[1] == "\(topology.policies.count): \(ofRoutes.count) for the queues of all routes, "
                + "\(ofTiers.count) for tiers, \(others) for other queues, \(exchanges) for exchanges")
    }

    @Test("Results lists the queues of results, with what each does when it is full")
    func results() throws {
        let topology = topology(resultsQueues: 3)
        let policies = Dictionary(topology.policies.filter { $0.scope == .queues }.map { ($0.name, $0) }) { $1 }
        let rows = try Page(documentation: "Results").rows("queue", in: "Which queue")
        var listed: [String: String] = [:]
        var before = ""
        for row in rows {
            // The queues of a list are full as the one above them is.
            let full = row[2] == "the same" ? before : row[2]
            // The end of a name stands for another number.
            for name in names(row[0]) { listed[name.replacing(".2.3", with: ".3")] = full }
            before = full
        }
        let queues = topology.queues.filter { $0.name.hasPrefix(TopologyNames.resultsQueue) }
        #expect(Set(listed.keys) == Set(queues.map(\.name)))
        for queue in queues {
            let policy = try #require(policies[queue.policy])
            let settings = Dictionary(uniqueKeysWithValues: policy.settings.map { ($0.key, $0.value) })
            let cells = cells(settings, of: queue)
            let words = cells[1] == "refuse" ? "refuses; " : "drops its oldest beyond \(cells[0])"
            #expect(listed[queue.name]?.hasPrefix(words) == true, "\(queue.name)")
        }
    }

    @Test("DeadLetters says how the broker comes to write letters, and under which key")
    func brokerLetters() throws {
        let topology = topology()
        func setting(_ key: String, of name: String) throws -> TopologyValue? {
            let queue = try #require(topology.queues.first { $0.name == name })
            let policy = try #require(topology.policies.first { $0.name == queue.policy })
            return policy.settings.first { $0.key == key }?.value
        }
        let rows = try Page(documentation: "DeadLetters")
            .rows("`x-first-death-reason`", in: "Letters that the broker wrote")
        try #require(rows.count == 3 && "\(BrokerHeader.firstDeathReason)" == "x-first-death-reason")
        guard case .integer(let limit)? = try setting("delivery-limit", of: TopologyNames.jobQueue(route: "<route>")),
            case .text(let key)? = try setting("dead-letter-routing-key", of: TopologyNames.unroutedJobsQueue)
        else {
            Issue.record("job queues have neither a delivery limit nor a key for letters")
            return
        }
        #expect(try setting("dead-letter-routing-key", of: TopologyNames.jobQueue(route: "<route>")) == nil)
        #expect(rows[0][1] == "the job came back to its queue more than \(limit) times")
        #expect(rows[0][2] == "the job's own; `\(key)` from the queue of jobs without a route")
        #expect(rows[2][1].hasPrefix("the body was over \(JobDecoder.maximumBodyLength >> 10) KiB,"))
        #expect(Page.quoted(rows[2][3]) == [Outcome.invalid.rawValue, Reason.bodyTooLarge.rawValue])
    }
}
