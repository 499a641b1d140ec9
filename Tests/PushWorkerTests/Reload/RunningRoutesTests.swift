import LocalStack
import Logging
import PushModel
import Synchronization
import TLS
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("How the routes of a running worker follow its configuration", .timeLimit(.minutes(1)))
struct RunningRoutesTests {
    /// A configuration of one route, on one lane.
    private static func configuration(rate: Int, highLane: Bool = false) throws -> WorkerConfiguration {
        let directory = try TemporaryDirectory(prefix: "martlet-routes")
        defer { directory.remove() }
        try directory.write("key", to: "key.p8")
        let file = try directory.write(
            """
            lanes: 1
            credentials:
              - { name: k, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
            routes:
              - name: shop
                environment: production
                topics: [com.example.shop]
                credential: k
                rate: \(rate)
                high_lane: \(highLane)
            """, to: "martlet.yaml")
        return try ConfigurationLoader.load(file: file, environment: [:]).get()
    }

    @Test("A route that changes begins again with what it knew of dead tokens")
    func deadTokens() throws {
        let before = try Self.configuration(rate: 100)
        let maker = try RouteMaker(before.apns)
        let lanes = try WorkerBuilder(
            configuration: before, version: "test",
            credentials: try CredentialStore([], trust: TrustRoots(systemRoots: false, files: []))
        ).lanes(maker)
        let lane = LaneHandle(lane: 0)
        let added = Mutex<[LaneSettings.RouteSettings]>([])
        lane.started { message in
            if case .added(let settings) = message { added.withLock { $0.append(settings) } }
        }
        let routes = RunningRoutes(
            before.routes, on: lanes,
            surroundings: RunningRoutes.Surroundings(
                maker: maker, lanes: [0: lane], memory: SharedMemoryBudget(), share: { _ in }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let shop = try #require(lanes.flatMap(\.routes).first { $0.name == "shop" })
        for _ in 0..<500 { shop.shared.deadTokens.learn(live: 0, isDeadToken: true, inFlight: 0) }
        routes.follow(try Self.configuration(rate: 100, highLane: true).routes)
        routes.left(shop.number, lane: 0)
        let again = try #require(added.withLock { $0.first })
        #expect(again.name == "shop" && again.shared.deadTokens.isSuspicious)
        #expect(again.shared !== shop.shared)
    }
}
