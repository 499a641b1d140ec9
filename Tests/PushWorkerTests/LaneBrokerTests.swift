import EventLoop
import Logging
import PushModel
import TLS
import Testing

@testable import PushWorker

@Suite("A lane and a broker that misbehaves", .timeLimit(.minutes(1)))
struct LaneBrokerTests {
    /// A lane on its own thread, with the route that answers jobs nobody claims.
    private func start(_ broker: FakeBroker, _ change: (inout LaneSettings) -> Void = { _ in }) throws -> LaneHandle {
        let handle = LaneHandle()
        var settings = LaneSettings(
            index: 0, routes: [LaneSettings.RouteSettings(name: WorkerBuilder.unrouted, queues: ["jobs"])],
            routeCount: 0, credentials: try CredentialStore([], trust: TrustRoots(systemRoots: false, files: [])),
            instance: "test", endpoints: [broker.endpoint], policy: RetryPolicy(), tierNames: [], version: "test",
            replyPattern: try ReplyPattern("amq.rabbitmq.reply-to.*"), includesDeviceToken: false,
            requestTimeout: .seconds(1), pingInterval: .seconds(60))
        change(&settings)
        let made = settings
        _ = try LoopThread.start(name: "lane") {
            do {
                try Lane(settings: made, handle: handle, logger: Logger(label: "lane") { _ in SwiftLogNoOpLogHandler() })
                    .run()
            } catch {
                Issue.record("\(error)")
            }
        }
        return handle
    }

    @Test("confirms that never come end the connection, and the same messages are published on another")
    func noConfirm() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 3, confirms: { $0 > 2 }))
        defer { broker.stop() }
        let handle = try start(broker) { $0.confirmPatience = .milliseconds(300) }
        var published: [Int: Set<String>] = [:]
        var acknowledgedBy: Int?
        for await event in broker.events {
            if case .published(let publisher, let exchange, let id) = event {
                published[publisher, default: []].insert("\(exchange) \(id)")
            }
            // The last of three, with all before it or alone.
            if case .acknowledged(_, 3) = event {
                acknowledgedBy = published.keys.max()
                break
            }
        }
        #expect(published[1]?.count == 6, "three results and three dead letters")
        #expect(published[2] == published[1] && published[3] == published[1])
        #expect(acknowledgedBy == 3, "nothing is acknowledged before its result is confirmed")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(2))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }
}
