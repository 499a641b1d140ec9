import APNSClient
import Dispatch
import EventLoop
import LocalStack
import PushModel
import TLS
import TestSupport
import Testing
import Topology

@testable import PushWorker
@testable import WorkerSettings

@Suite("A lane that connects to APNs", .timeLimit(.minutes(1)))
struct LaneConnectTests {
    @Test("a look-up that hangs is given up after its patience, and what it says in the end counts for nothing")
    func hungLookUp() async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-look-up")
        defer { directory.remove() }
        try directory.write(try ES256PrivateKey.generate().pem, to: "key.p8")
        let credentials = try CredentialStore(
            [
                .token(
                    TokenCredentialConfiguration(
                        name: "key", keyFile: directory.file("key.p8"), keyID: "ABC1234567", teamID: "DEF1234567"))
            ], trust: TrustRoots(systemRoots: false, files: []))
        let answers = DispatchSemaphore(value: 0)
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "apns.test", port: 443), trust: try ThrowawayCertificates().clientContext(),
            limiter: ConnectRateLimiter(), patience: { _ in .milliseconds(100) }
        ) { _, _ in
            answers.wait()
            return []
        }
        // Only a job makes a route connect.
        let broker = try FakeBroker(FakeBroker.Behaviour(queue: "jobs", key: "production.normal.com.example.app"))
        let table = RoutesTable(routes: [
            TopologyRoute(name: "app", environment: .production, topics: ["com.example.app"])
        ])
        defer { broker.stop() }
        let settings = LaneSettings(
            index: 0,
            routes: [
                LaneSettings.RouteSettings(
                    name: "app", queues: ["jobs"], claim: RouteClaim(table: table, index: 0), connector: connector,
                    credential: "key")
            ],
            routeCount: 1, credentials: credentials, instance: "test", broker: broker.configuration,
            policy: RetryPolicy(), tierNames: [], version: "test", replyPattern: try ReplyPattern(""),
            includesDeviceToken: false, requestTimeout: .seconds(1), pingInterval: .seconds(60))
        let lines = LogLines()
        let logger = lines.logger
        let handle = LaneHandle()
        _ = try LoopThread.start(name: "lane") {
            do {
                try Lane(settings: settings, handle: handle, logger: logger).run()
            } catch {
                Issue.record("\(error)")
            }
        }
        var failures: [String] = []
        // The second shows that the pool asked anew.
        for await line in lines.stream where line.hasPrefix("APNs cannot be reached") {
            failures.append(line)
            if failures.count == 2 { break }
        }
        let words = "looking up https://apns.test and connecting took longer than 0.1 seconds"
        #expect(failures.allSatisfy { $0.contains(words) }, "\(failures)")
        for _ in 0..<100 { answers.signal() }
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(4))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }
}
