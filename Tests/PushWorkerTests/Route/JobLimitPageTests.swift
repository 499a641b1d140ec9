import TestSupport
import Testing
import Topology

@testable import PushModel
@testable import PushWorker
@testable import RabbitMQ

@Suite("The page about the limits of jobs", .timeLimit(.minutes(1)))
struct JobLimitPageTests {
    /// The length of a route's job queue, as the page writes it.
    private static func queueLength() throws -> String {
        let route = TopologyRoute(name: "shop", environment: .production, topics: ["com.example.app"])
        let topology = BrokerTopology(routes: [route], tiers: [])
        let queue = try #require(topology.queues.first { $0.name == TopologyNames.jobQueue(route: "shop") })
        let policy = try #require(topology.policies.first { $0.name == queue.policy })
        let length = policy.settings.first { $0.key == "max-length-bytes" }?.value
        guard case .integer(let bytes)? = length else { return "" }
        return "\(bytes >> 30) GiB"
    }

    @Test("Producers lists the limits of a job, with the reason of what is beyond them")
    func limits() throws {
        let number = Page.number
        let table = "\(FieldTableReader.maximumSize >> 10) KiB, \(FieldTableReader.maximumDepth) levels"
        let payload = "\(number(PushType.alert.payloadLimit)) bytes; \(number(PushType.voip.payloadLimit)) for `voip`"
        let limits: [(String, String, Reason.Known?)] = [
            ("body of a job", "\(JobDecoder.maximumBodyLength >> 10) KiB", .bodyTooLarge),
            ("payload to a device", payload, .payloadTooLarge),
            ("payload of a broadcast", "\(number(BroadcastChannel.payloadLimit)) bytes", .payloadTooLarge),
            ("device tokens in a job", number(Job.maximumTokens), .tooManyTokens),
            ("device token", "\(number(Job.maximumTokenLength)) hexadecimal digits", .badDeviceToken),
            ("header table", table, .badHeaders),
            ("JSON nesting", "\(JSONScanner.maximumDepth) levels", .badJSON),
            ("job id", "\(number(Job.maximumIDLength)) bytes", .badJobID),
            ("reference", "\(number(Job.maximumReferenceLength)) bytes", .badReference),
            ("job queue of a route", try Self.queueLength(), nil),
        ]
        let rows = try Page(documentation: "Producers").rows("what", in: "Limits")
        #expect(rows.map { [$0[0], $0[1]] } == limits.map { [$0.0, $0.1] })
        for (row, limit) in zip(rows, limits) {
            guard let reason = limit.2 else { continue }
            #expect(row[2] == "`invalid`, `\(reason.rawValue)`")
        }
    }
}
