import PushModel
import TestSupport
import Testing

@testable import Topology

@Suite("The pages about bindings for results and dead letters", .timeLimit(.minutes(1)))
struct ResultKeyPageTests {
    /// A result of a raw job with a routing key.
    private struct Sample {
        let outcome: Outcome
        let jobKey: String

        /// The job's key in its three parts; nil where it could not be read.
        var parts: [Substring]? {
            let parts = jobKey.split(separator: ".", maxSplits: 2)
            return parts.count == 3 ? parts : nil
        }
        var isProduction: Bool { parts?[0] == "production" }
        var topic: Substring? { parts?[2] }

        /// The result's routing key, as workers write it.
        var key: String {
            var bytes: [UInt8] = []
            func place(_ text: String) -> Range<Int> {
                bytes += text.utf8
                return bytes.count - text.utf8.count..<bytes.count
            }
            let (key, type) = (place(jobKey), place("\(MessageName.rawContentType)"))
            let (header, token) = (place("\(HeaderName.deviceToken)"), place("00fc"))
            let body = place("{}")
            var headers = JobHeaders()
            headers.take(name: header, value: .text(token), in: bytes)
            let message = JobMessage(
                bytes: bytes, routingKey: key, contentType: type, body: body, headers: headers)
            let report = ResultReport(index: 0, final: FinalReport(outcome, .none), finishedAt: 0)
            var written: [UInt8] = []
            switch JobDecoder().decode(message, now: 1_763_712_800_100, random: { 1 }) {
            case .success(let job): report.appendRoutingKey(for: job, to: &written)
            case .failure(let defect): report.appendRoutingKey(for: defect.job, to: &written)
            }
            return String(decoding: written, as: UTF8.self)
        }
    }

    /// Results of several outcomes, environments and topics.
    private static let samples: [Sample] = Outcome.allCases.flatMap { outcome in
        [
            "production.normal.com.example.app", "production.high.com.example.app.voip",
            "production.normal.com.example.app.beta", "production.normal.com.example.apple",
            "development.normal.com.example.app", "no key",
        ].map { Sample(outcome: outcome, jobKey: $0) }
    }

    /// Which results a binding gets, by what the page says that it matches.
    private static let meanings: [String: @Sendable (Sample) -> Bool] = [
        "every result": { _ in true },
        "dead tokens of all apps": { $0.outcome == .deadToken },
        "one topic": { $0.isProduction && $0.topic == "com.example.app" },
        "the topic alone and with all suffixes, and other apps whose identifier begins like that": {
            $0.isProduction && ($0.topic == "com.example.app" || $0.topic?.hasPrefix("com.example.app.") == true)
        },
        "jobs without a readable environment and topic, in the job and in its key": {
            $0.outcome == .invalid && $0.parts == nil
        },
        "all jobs that the worker could not accept": { $0.outcome == .invalid },
    ]

    @Test("Each binding key of Results gets the results that it says, and no others")
    func bindings() throws {
        let rows = try Page(documentation: "Results").rows("binding key", in: "Which queue")
        #expect(Set(rows.map { $0[1] }) == Set(Self.meanings.keys))
        for row in rows {
            let pattern = try #require(Page.quoted(row[0]).first)
            let isMeant = try #require(Self.meanings[row[1]], "\(row[1])")
            for sample in Self.samples {
                let isMatch = LiveTopology.topic(pattern, matches: sample.key)
                #expect(isMatch == isMeant(sample), "\(pattern): \(sample.key)")
            }
            #expect(Self.samples.contains(where: isMeant), "\(pattern)")
        }
    }

    /// The queues of dead letters to which the topology leads a letter, in their order.
    private static func queues(_ topology: BrokerTopology, _ key: String) -> [String] {
        let bound = Set(
            topology.bindings.filter { binding in
                binding.source == TopologyNames.dead && LiveTopology.topic(binding.routingKey, matches: key)
            }.map(\.queue))
        return bound.sorted()
    }

    @Test("Results and DeadLetters say in which queue the dead letters of each outcome are")
    func deadLetters() throws {
        let route = TopologyRoute(name: "shop", environment: .production, topics: ["com.example.app"])
        let topology = BrokerTopology(routes: [route], tiers: [])
        // A letter has the key of a result.
        let queues = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { outcome in
                let sample = Sample(outcome: outcome, jobKey: "production.normal.com.example.app")
                return (outcome.rawValue, Self.queues(topology, sample.key))
            })
        let rows = try Page(documentation: "Results").rows("outcome", in: "Outcomes")
        let listed = rows.map { (Page.quoted($0[0]).joined(), Page.quoted($0[3])) }
        #expect(Dictionary(uniqueKeysWithValues: listed) == queues)

        let letters = TopologyNames.brokerLettersQueue
        let holding = try Page(documentation: "DeadLetters").rows("queue", in: "Which queue")
        #expect(Set(holding.flatMap { Page.quoted($0[0]) }) == Set(queues.values.flatMap(\.self)).union([letters]))
        for row in holding {
            let queue = try #require(Page.quoted(row[0]).first)
            let held = queues.filter { $0.value.contains(queue) }.keys
            #expect(Page.quoted(row[1]).sorted() == held.sorted(), "\(queue)")
            // What the broker writes has the job's own key.
            let isBrokers = Self.queues(topology, "development.normal.com.example.app").contains(queue)
            let holdsThem =
                queue == letters
                ? row[1].hasPrefix("copies of what the broker wrote") : row[1].hasSuffix(", and what the broker wrote")
            #expect(holdsThem == isBrokers, "\(queue)")
        }
    }
}
