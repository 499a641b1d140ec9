import EventLoop
import PushModel
import TestSupport
import Testing
import Text
import Topology
import WorkerSettings

@testable import APNSClient
@testable import PushWorker

@Suite("What a route hears about its credential", .timeLimit(.minutes(1)))
struct RouteCredentialTests {
    private static let endpoint = APNSEndpoint(host: "localhost", port: 1)
    private let certificates: ThrowawayCertificates

    init() throws { certificates = try ThrowawayCertificates() }

    private final class Deaf: APNSPoolDelegate {
        func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {}
        func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {}
        func poolCapacityChanged(_ pool: APNSPool) {}
    }

    /// A route with a pool that never connects.
    private final class Lone {
        let route: Route
        private let delegate = Deaf()

        init(_ credential: APNSCredential) throws {
            let table = RoutesTable(routes: [
                TopologyRoute(name: "app", environment: .development, topics: ["com.example.app"])
            ])
            let renderer = PublicationRenderer(tiers: [], routes: [], worker: "test", includesDeviceToken: false)
            let publisher = Publisher(link: { nil }, renderer: renderer, fate: { _, _ in })
            route = Route(
                name: "app", position: 0, queues: [], claim: RouteClaim(table: table, index: 0),
                credit: RouteCredit(fixed: nil, rate: nil),
                surroundings: RouteSurroundings(
                    policy: RetryPolicy(), publisher: publisher, replyPattern: try ReplyPattern("")))
            route.credential.known = RouteCredential(name: "c")
            let pool = APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(1), connections: 1),
                loop: try EventLoop(), endpoint: RouteCredentialTests.endpoint, credential: credential,
                delegate: delegate)
            route.devices.open(pool, events: delegate)
        }
    }

    private static func moment(_ seconds: Int64) -> Moment {
        Moment(monotonic: 0 + .seconds(seconds), wall: 1_763_712_800_000 + seconds * 1_000)
    }

    private func credential(_ version: Int) throws -> APNSCredential {
        APNSCredential(name: "c", version: version, context: try certificates.clientContext())
    }

    @Test("A refusal parks the route")
    func refused() throws {
        let route = try Lone(credential(1)).route
        let refusal = CredentialEvent.refused(version: 1, reason: "InvalidProviderToken", concerns: .everyRoute)
        #expect(route.credential.happened(refusal, on: route.devices, at: Self.moment(1)))
        #expect(route.devices.breaker.isParked && route.credential.known?.refusal == "InvalidProviderToken")
    }

    @Test("A route without a connection begins with what was proved, and goes on with what was given up too early")
    func withoutConnection() throws {
        let (first, second) = (try credential(1), try credential(2))
        var known = RouteCredential(name: "c", newest: first)
        known.offered(second)
        #expect(known.trusted === first && known.newest === second)
        let isGivenUp = known.giveUp(2)
        #expect(isGivenUp && known.newest === first)
        let isGivenUpAgain = known.giveUp(2)
        #expect(!isGivenUpAgain)
        known.accepted(2)
        #expect(known.trusted === second && known.newest === second)
        // Nothing good is lost where the one in use is refused.
        known.refused("InvalidProviderToken")
        let third = try credential(3)
        known.offered(third)
        #expect(known.trusted === third)
    }

    @Test("A new version that the route cannot use, such as another app's certificate, is not tried: the old one stays")
    func unfit() throws {
        let route = try Lone(credential(1)).route
        let first = try #require(route.credential.present)
        let mismatch: (APNSCredential) -> String? = { $0.version == 2 ? "the certificate is not for it" : nil }
        route.credential.known = RouteCredential(name: "c", newest: first, mismatch: mismatch)
        #expect(route.credential.offer(try credential(2), at: Self.moment(1)) == "the certificate is not for it")
        route.credential.passTime(at: Self.moment(1))
        #expect(route.credential.present === first && route.credential.known?.newest === first)
        #expect(!route.devices.breaker.isHeld)
        let trouble = "the new version of credential c is not used: the certificate is not for it; "
        #expect(route.credential.troubles == [trouble + "the one before stays in use"])
        #expect(route.credential.offer(try credential(3), at: Self.moment(2)) == nil)
        #expect(route.credential.known?.newest?.version == 3 && route.credential.known?.candidateTrouble == nil)

        var fresh = RouteCredential(name: "c", newest: try credential(2), mismatch: mismatch)
        #expect(fresh.newest == nil && fresh.trusted == nil && fresh.unusable == "the certificate is not for it")
        #expect(fresh.offered(try credential(3)) == nil && fresh.unusable == nil)
    }

    @Test("A route whose credential's files cannot be used consumes nothing and says why, until they can")
    func unusable() throws {
        let route = try Lone(credential(1)).route
        route.credential.known = RouteCredential(name: "c", unusable: "gone.p8: No such file or directory")
        route.credential.passTime(at: Self.moment(1))
        #expect(route.devices.breaker.isHeld && route.devices.breaker.intake == .none)
        let trouble = "parked: the credential c cannot be used: "
        #expect(route.credential.troubles == [trouble + "gone.p8: No such file or directory"])
        route.credential.known?.failed("gone.p8: no key")
        #expect(route.credential.troubles == [trouble + "gone.p8: no key"])
        route.credential.offer(try credential(1), at: Self.moment(2))
        route.credential.passTime(at: Self.moment(2))
        #expect(!route.devices.breaker.isHeld && route.devices.breaker.intake == .full)
        route.credential.known?.failed("gone.p8: later")
        #expect(route.credential.troubles.isEmpty, "what could be used once stays in use")
    }

    @Test("Connections that close leave what they proved, and what was refused before one in use goes on waiting")
    func rests() throws {
        let route = try Lone(credential(2)).route
        let third = try credential(3)
        #expect(route.credential.offer(third, at: Self.moment(1)) == nil)
        let pool = try #require(route.devices.pool)
        pool.refusedConnection(
            of: third, APNSClientError(.tls, "refused", refusalScope: .oneRoute), now: Self.moment(1).monotonic)
        route.credential.known?.keep(pool)
        let known = try #require(route.credential.known)
        #expect(known.trusted?.version == 2 && known.newest?.version == 2 && known.spare?.version == 3)
        route.devices.rest()
        #expect(route.credential.present?.version == 2 && !route.devices.breaker.wasConnected)
        // A version that is read meanwhile is proved with the next job.
        #expect(route.credential.offer(try credential(4), at: Self.moment(3)) == nil)
        #expect(route.credential.present?.version == 2 && route.credential.known?.newest?.version == 4)
    }

    @Test("Without a connection, one whose time is over gives way to one that was refused before, in its time")
    func untimelyWithoutConnection() throws {
        let old = APNSCredential(name: "c", context: try certificates.clientContext(), validity: 0...100)
        let new = APNSCredential(name: "c", version: 2, context: try certificates.clientContext(), validity: 50...200)
        var known = RouteCredential(name: "c", newest: old)
        known.offered(new)
        let isGivenUp = known.giveUp(2)
        #expect(isGivenUp)
        known.timePassed(100)
        #expect(known.trusted === old)
        known.timePassed(101)
        #expect(known.trusted === new && known.newest === new && known.spare === old)
        known.timePassed(201)
        #expect(known.trusted === new, "no credential's time is now")
    }

    @Test("A version whose time is over gives way to one whose time is now")
    func untimely() throws {
        let old = APNSCredential(name: "c", context: try certificates.clientContext(), validity: 0...100)
        let new = APNSCredential(name: "c", version: 2, context: try certificates.clientContext(), validity: 50...200)
        var known = RouteCredential(name: "c", newest: old)
        known.offered(new)
        known.timePassed(100)
        #expect(known.trusted === old)
        known.timePassed(101)
        #expect(known.trusted === new)
    }
}
