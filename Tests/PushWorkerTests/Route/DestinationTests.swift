import APNSClient
import EventLoop
import PushModel
import TLS
import TestSupport
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("A destination and its credential", .timeLimit(.minutes(1)))
struct DestinationTests {
    /// Hears everything and does nothing.
    private final class Deaf: APNSPoolDelegate {
        func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {}
        func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {}
        func poolCapacityChanged(_ pool: APNSPool) {}
    }

    private static let now = MonotonicTime(nanoseconds: 1)
    private static func moment(_ wall: Int64) -> Moment { Moment(monotonic: now, wall: wall) }
    private static let endpoint = APNSEndpoint(host: "127.0.0.1", port: 1)
    private let certificates: ThrowawayCertificates

    init() throws {
        certificates = try ThrowawayCertificates()
    }

    private func credential(_ version: Int) throws -> APNSCredential {
        APNSCredential(name: "c", version: version, context: try certificates.clientContext())
    }

    /// A host whose credential was refused.
    private func parkedHost() throws -> Destination {
        let connector = APNSConnector(
            endpoint: Self.endpoint, trust: try certificates.clientContext(),
            limiter: ConnectRateLimiter())
        let host = Destination(.broadcast, connector: connector)
        host.credentialRefused(.answer(Answer(status: 403, reason: .badCertificate)), at: Self.moment(0))
        return host
    }

    @Test("without a connection a new version is asked about at once, for the next connection uses it")
    func withoutConnection() throws {
        let host = try parkedHost()
        #expect(host.offer(try credential(2), now: Self.now))
        #expect(host.breaker.state == .probing && host.refusal == nil)
    }

    @Test("a version that waits for its proof changes nothing, and one that is used at once is asked about at once")
    func withConnection() throws {
        for isRefused in [false, true] {
            let host = try parkedHost()
            let delegate = Deaf()
            let pool = APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(1), connections: 1),
                loop: try EventLoop(), endpoint: Self.endpoint, credential: try credential(1),
                delegate: delegate)
            host.open(pool, events: delegate)
            if isRefused { pool.expire(now: Self.now, seconds: 0) }
            #expect(host.offer(try credential(2), now: Self.now) == isRefused)
            #expect(pool.credential.version == (isRefused ? 2 : 1))
            #expect((host.breaker.state == .probing) == isRefused)
            #expect((host.refusal == nil) == isRefused)
            host.close()
        }
    }

    @Test("a refusal without an answer is told as it was seen, until an answer says more")
    func refusedBelowHTTP() throws {
        let host = Destination(.broadcast)
        let route = Route(
            name: "app", position: 0, queues: [], claim: nil, credit: RouteCredit(fixed: nil, rate: nil),
            surroundings: RouteSurroundings(
                policy: RetryPolicy(),
                publisher: Publisher(
                    link: { nil },
                    renderer: PublicationRenderer(tiers: [], routes: [], worker: "test", includesDeviceToken: false),
                    fate: { _, _ in }),
                replyPattern: try ReplyPattern("")),
            broadcastHosts: [host])
        let event = CredentialEvent.refused(version: 1, reason: "revoked certificate", concerns: .oneRoute)
        #expect(route.credential.happened(event, on: host, at: Self.moment(0)))
        #expect(host.refusal == .connection("revoked certificate"))
        #expect(host.broadcastChannelTroubles == ["apns.broadcast: APNs refuses the credential: revoked certificate"])
        let answer = Answer(status: 403, reason: .badCertificateEnvironment)
        host.credentialRefused(.answer(answer), at: Self.moment(0))
        #expect(host.refusal == .answer(answer))
        #expect(
            host.broadcastChannelTroubles
                == ["apns.broadcast: APNs refuses the credential: BadCertificateEnvironment"])
    }

    @Test("a certificate whose time is over holds the hosts too, and closes what they have open, as it does the route")
    func untimely() throws {
        let renderer = PublicationRenderer(tiers: [], routes: [], worker: "test", includesDeviceToken: false)
        let publisher = Publisher(link: { nil }, renderer: renderer, fate: { _, _ in })
        let host = Destination(.management)
        let route = Route(
            name: "app", position: 0, queues: [], claim: nil, credit: RouteCredit(fixed: nil, rate: nil),
            surroundings: RouteSurroundings(
                policy: RetryPolicy(), publisher: publisher, replyPattern: try ReplyPattern("")),
            broadcastHosts: [host])
        let credential = APNSCredential(
            name: "c", context: try certificates.clientContext(), validity: 1_000...2_000)
        let (loop, delegate) = (try EventLoop(), Deaf())
        func pool() -> APNSPool {
            APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(1), connections: 1), loop: loop,
                endpoint: Self.endpoint, credential: credential, delegate: delegate)
        }
        let (devices, broadcasts) = (pool(), pool())
        route.devices.open(devices, events: delegate)
        route.credential.known = RouteCredential(name: "c")
        host.open(broadcasts, events: delegate)
        route.credential.passTime(at: Self.moment(1_500_000))
        #expect(!host.breaker.isHeld && host.breaker.intake == .full)
        route.credential.passTime(at: Self.moment(2_001_000))
        #expect(host.breaker.isHeld && host.breaker.intake == .none)
        // A pool whose credential's time is over takes a new version without a proof.
        let next = APNSCredential(name: "c", version: 2, context: try certificates.clientContext())
        for pool in [devices, broadcasts] { pool.offer(next, now: Self.now) }
        #expect(devices.credential.version == 2 && broadcasts.credential.version == 2)
        route.credential.passTime(at: Self.moment(2_001_000))
        #expect(!host.breaker.isHeld && host.breaker.intake == .full)
        host.close()
    }
}
