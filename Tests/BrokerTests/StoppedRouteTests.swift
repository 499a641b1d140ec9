import APNSSimulator
import Foundation
import LocalStack
import PushWorker
import TLS
import Testing
import WorkerSettings

/// Routes that cannot push, and the jobs in their queues.
@Suite("A route that is stopped", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct StoppedRouteTests {
    private static func good(deadline: Duration? = nil) -> TestJob {
        let token = String(decoding: Tokens.good, as: UTF8.self)
        var fields = #""device_token":"\#(token)","payload":{"aps":{"alert":"x"}}"#
        if let deadline {
            let end = Date.now.addingTimeInterval(Double(deadline.components.seconds))
            fields += #","deadline":"\#(end.formatted(.iso8601))""#
        }
        return .enveloped("{\(fields)}")
    }

    /// Two routes, of which the first has a key that APNs does not know.
    private static func start(_ name: String) async throws -> BrokerStack {
        try await BrokerStack.start(
            name,
            apps: [
                BrokerStack.App(route: "app", topic: "com.example.app", credential: "stranger"),
                BrokerStack.App(route: "other", topic: "com.example.other"),
            ], tiers: [1_000])
    }

    /// Jobs with a deadline of some seconds, and jobs without.
    private static func jobs(short: Int, _ deadline: Duration, long: Int) -> [(TestJob, String)] {
        (0..<short).map { (good(deadline: deadline), "short \($0)") } + (0..<long).map { (good(), "long \($0)") }
    }

    /// Expects that all jobs without a deadline are pushed once, and that nothing else was or is left. Their results may
    /// say `redelivered`: RabbitMQ marks a job that was on its way to a look's consumer when the look ended.
    private static func expectPushed(_ long: Int, _ client: JobClient, _ stack: BrokerStack) throws {
        for number in 0..<long {
            let result = try client.result("long \(number)").result
            #expect(result.outcome == "accepted" && result.attempt == 1)
        }
        let pushes = stack.simulator.ledger.records(token: String(decoding: Tokens.good, as: UTF8.self))
        #expect(pushes.count { $0.status == 200 } == long)
        for queue in ["apns.q.results", "apns.q.dead"] { try client.expectNothing(in: queue) }
        #expect(try stack.leftovers() == [:])
    }

    @Test("Jobs that expire in its queue get their results; the others are pushed once it works, each of them once")
    func expires() async throws {
        let stack = try await Self.start("stopped")
        let client = try JobClient(stack)
        defer { client.close() }
        let (file, key) = try Self.strangersKey(of: stack)
        stack.simulator.control.add(key)
        try FileManager.default.moveItem(atPath: file, toPath: file + ".later")
        // More than a window.
        try client.publish(Self.jobs(short: 150, .seconds(5), long: 20))
        let worker = try stack.startWorker()
        _ = try stack.route("app", of: worker) { $0.state == "parked" && $0.connections == 0 }
        for number in 0..<150 {
            let result = try client.result("short \(number)").result
            #expect(result.outcome == "expired" && result.reason == "DeadlinePassed")
            #expect(try client.next("short \(number)", from: "apns.q.dead").text("x-apns-outcome") == "expired")
        }
        #expect(stack.simulator.counters.connectionsAccepted == 0)
        try FileManager.default.moveItem(atPath: file + ".later", toPath: file)
        worker.worker.reload(stack.configuration)
        try Self.expectPushed(20, client, stack)
        try await worker.stop()
    }

    @Test("A route whose key APNs refuses looks between its probes, which show when the key is accepted")
    func refused() async throws {
        let stack = try await Self.start("stopped-refused")
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publish(Self.jobs(short: 50, .seconds(8), long: 10))
        let worker = try stack.startWorker()
        for number in 0..<50 {
            let result = try client.result("short \(number)").result
            // A probe whose deadline is nearer than the tier is told why it was not pushed.
            #expect(result.outcome == "expired" || result.reason == "InvalidProviderToken")
            _ = try client.next("short \(number)", from: "apns.q.dead")
        }
        stack.simulator.control.add(try Self.strangersKey(of: stack).key)
        try Self.expectPushed(10, client, stack)
        _ = try stack.route("app", of: worker) { $0.state == "ready" }
        try await worker.stop()
    }

    /// The file of the key that APNs does not know, and what it would know of it.
    private static func strangersKey(of stack: BrokerStack) throws -> (file: String, key: ProviderKey) {
        for case .token(let token) in stack.configuration.credentials where token.name == "stranger" {
            let key = try ES256PrivateKey(file: token.keyFile)
            return (token.keyFile, ProviderKey(keyID: token.keyID, teamID: token.teamID, publicKey: key.publicKey))
        }
        throw RingFailure("no credential is called stranger")
    }
}
