import TLS
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("Putting a worker together", .timeLimit(.minutes(1)))
struct WorkerBuilderTests {
    @Test("a lane to which no route falls is left out, for it would only hold connections to the broker")
    func emptyLanes() throws {
        let configuration = try WorkerConfiguration(
            yaml: """
                lanes: 64
                credentials:
                  - { name: k, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
                routes:
                  - { name: r, environment: production, topics: [com.example.app], credential: k, lanes: 1 }
                """)
        let builder = WorkerBuilder(
            configuration: configuration, version: "test",
            credentials: try CredentialStore([], trust: TrustRoots(systemRoots: false, files: [])))
        let lanes = try builder.lanes(RouteMaker(configuration.apns))
        #expect(lanes.allSatisfy { !$0.routes.isEmpty })
        #expect(lanes.map(\.routes.count).reduce(0, +) == configuration.routes.count + 1, "and the one for lost jobs")
    }
}
