import Logging
import PushModel
import Synchronization
import TLS
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("How the routes of a running worker follow its configuration", .timeLimit(.minutes(1)))
struct RunningRoutesTests {
    /// A configuration of one route.
    private static func configuration(
        topic: String = "com.example.shop", highLane: Bool
    ) throws -> WorkerConfiguration {
        try WorkerConfiguration(
            yaml: """
                credentials:
                  - { name: k, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
                routes:
                  - name: shop
                    environment: production
                    topics: [\(topic)]
                    credential: k
                    high_lane: \(highLane)
                """)
    }

    @Test("A route that changes goes on with what it knew of dead tokens, and learns anew about those of other topics")
    func deadTokens() throws {
        let before = try Self.configuration(highLane: false)
        let maker = try RouteMaker(before.apns)
        let settings = try WorkerBuilder(
            configuration: before, version: "test",
            credentials: try CredentialStore([], trust: TrustRoots(systemRoots: false, files: []))
        ).lane(maker)
        let lane = LaneHandle()
        let added = Mutex<[LaneSettings.RouteSettings]>([])
        lane.started { message in
            if case .added(let settings) = message { added.withLock { $0.append(settings) } }
        }
        let routes = RunningRoutes(
            before.routes, on: settings,
            surroundings: RunningRoutes.Surroundings(
                maker: maker, lane: lane, memory: SharedMemoryBudget(), share: { _ in }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let shop = try #require(settings.routes.first { $0.name == "shop" })
        for _ in 0..<500 { shop.deadTokens.learn(live: 0, isDeadToken: true, inFlight: 0) }
        routes.follow(try Self.configuration(highLane: true).routes)
        routes.left(shop.number)
        let again = try #require(added.withLock { $0.last })
        #expect(again.name == "shop" && again.deadTokens.isSuspicious)
        #expect(again.deadTokens !== shop.deadTokens)
        routes.follow(try Self.configuration(topic: "com.example.other", highLane: true).routes)
        routes.left(again.number)
        let other = try #require(added.withLock { $0.last })
        #expect(other.name == "shop" && other.deadTokens.knowledge == nil && added.withLock { $0.count } == 2)
    }
}
