import APNSClient
import Dispatch
import EventLoop
import LocalStack
import Logging
import PushModel
import TLS
import TestSupport
import Testing
import Topology

@testable import PushWorker
@testable import WorkerSettings

@Suite("A lane that connects to APNs", .timeLimit(.minutes(1)))
struct LaneConnectTests {
    /// The credential of all routes.
    private func credentials(in directory: TemporaryDirectory) throws -> CredentialStore {
        try directory.write(try ES256PrivateKey.generate().pem, to: "key.p8")
        return try CredentialStore(
            [
                .token(
                    TokenCredentialConfiguration(
                        name: "key", keyFile: directory.file("key.p8"), keyID: "ABC1234567", teamID: "DEF1234567"))
            ], trust: TrustRoots(systemRoots: false, files: []))
    }

    /// A lane on its own thread, whose routes claim the same jobs, each from a queue of its own.
    private func start(
        _ broker: FakeBroker, routes: Int = 1, connector: APNSConnector, credentials: CredentialStore, logger: Logger
    ) throws -> LaneHandle {
        let table = RoutesTable(routes: [
            TopologyRoute(name: "app", environment: .production, topics: ["com.example.app"])
        ])
        let settings = LaneSettings(
            routes: (0..<routes).map { number in
                LaneSettings.RouteSettings(
                    name: "app-\(number)", number: number, queues: ["jobs-\(number)"],
                    claim: RouteClaim(table: table, index: 0), connector: connector, credential: "key")
            },
            routeCount: routes, credentials: credentials, instance: "test", broker: broker.configuration,
            policy: RetryPolicy(), tierNames: [], version: "test", replyPattern: try ReplyPattern(""),
            includesDeviceToken: false,
            pool: APNSPoolConfiguration(requestTimeout: .seconds(1), pingInterval: .seconds(60)))
        let handle = LaneHandle()
        _ = try LoopThread.start(name: "lane") {
            do {
                try Lane(settings: settings, handle: handle, logger: logger).run()
            } catch {
                Issue.record("\(error)")
            }
        }
        return handle
    }

    @Test("of many routes with jobs each looks its host up when the pace lets it connect, and no sooner")
    func paced() async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-pace")
        defer { directory.remove() }
        let (routes, burst, interval) = (50, 5, Duration.milliseconds(20))
        let (lookUps, feed) = AsyncStream.makeStream(of: MonotonicTime.self)
        let answers = DispatchSemaphore(value: 0)
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "apns.test", port: 443), trust: try ThrowawayCertificates().clientContext(),
            limiter: ConnectRateLimiter(.init(hostInterval: interval, hostBurst: burst, processBurst: 1_000)),
            places: BlockingCall.Places(routes),
            resolve: { _, _ in
                feed.yield(.now())
                answers.wait()
                return []
            })
        let broker = try FakeBroker(
            FakeBroker.Behaviour(key: "production.normal.com.example.app", deliversOnEveryChannel: true))
        defer { broker.stop() }
        let start = MonotonicTime.now()
        let handle = try self.start(
            broker, routes: routes, connector: connector, credentials: try credentials(in: directory),
            logger: LogLines().logger)
        var times: [MonotonicTime] = []
        // No look-up ends, so each route makes one.
        for await time in lookUps {
            times.append(time)
            if times.count == routes { break }
        }
        for (number, time) in times.sorted().enumerated() where number >= burst {
            let least = start + interval * (number - burst + 1)
            #expect(time >= least, "look-up \(number) began too early")
        }
        for _ in 0..<1_000 { answers.signal() }
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(4))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("a look-up that hangs is given up after its patience, and what it says in the end counts for nothing")
    func hungLookUp() async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-look-up")
        defer { directory.remove() }
        let answers = DispatchSemaphore(value: 0)
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "apns.test", port: 443), trust: try ThrowawayCertificates().clientContext(),
            limiter: ConnectRateLimiter(), patience: { _ in .milliseconds(100) }
        ) { _, _ in
            answers.wait()
            return []
        }
        // Only a job makes a route connect.
        let broker = try FakeBroker(FakeBroker.Behaviour(key: "production.normal.com.example.app"))
        defer { broker.stop() }
        let lines = LogLines()
        let handle = try start(
            broker, connector: connector, credentials: try credentials(in: directory), logger: lines.logger)
        var failures: [String] = []
        // The second shows that the pool asked again.
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
