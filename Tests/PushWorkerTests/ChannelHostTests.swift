import APNSClient
import EventLoop
import PushModel
import TLS
import TestSupport
import Testing

@testable import PushWorker

@Suite("A host of channels and its credential", .timeLimit(.minutes(1)))
struct ChannelHostTests {
    /// Hears everything and does nothing.
    private final class Deaf: APNSPoolDelegate {
        func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {}
        func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {}
        func poolCapacityChanged(_ pool: APNSPool) {}
    }

    private static let now = MonotonicTime(nanoseconds: 1)
    private let certificates: ThrowawayCertificates

    init() throws {
        certificates = try ThrowawayCertificates()
    }

    private func credential(_ version: Int) throws -> APNSCredential {
        APNSCredential(name: "c", version: version, context: try certificates.clientContext())
    }

    /// A host whose credential was refused.
    private func parkedHost() throws -> ChannelHost {
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "127.0.0.1", port: 1), trust: try certificates.clientContext(),
            limiter: ConnectRateLimiter())
        let host = ChannelHost(kind: .broadcast, connector: connector)
        host.refusal = APNSResponse(status: 403, reason: .badCertificate)
        host.breaker.credentialRefused(now: 0)
        return host
    }

    @Test("without a connection a new version is asked about at once, for the next connection uses it")
    func withoutConnection() throws {
        let host = try parkedHost()
        host.offer(try credential(2), now: Self.now)
        #expect(host.breaker.state == .probing && host.refusal == nil)
    }

    @Test("a version that waits for its proof changes nothing, and one that is used at once is asked about at once")
    func withConnection() throws {
        for isRefused in [false, true] {
            let host = try parkedHost()
            let delegate = Deaf()
            let pool = APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(1), connections: 1),
                loop: try EventLoop(), endpoint: host.connector.endpoint, credential: try credential(1),
                delegate: delegate)
            host.pool = pool
            if isRefused { pool.expire(now: Self.now) }
            host.offer(try credential(2), now: Self.now)
            #expect(pool.credential.version == (isRefused ? 2 : 1))
            #expect((host.breaker.state == .probing) == isRefused)
            #expect((host.refusal == nil) == isRefused)
            host.close()
        }
    }
}
