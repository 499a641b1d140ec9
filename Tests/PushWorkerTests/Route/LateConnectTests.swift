import APNSClient
import EventLoop
import Logging
import PushModel
import TestSupport
import Testing

@testable import PushWorker

@Suite("A connect to a host that ends after it was given up", .timeLimit(.minutes(1)))
struct LateConnectTests: RouteSuite {
    /// Notes what the pool asks for.
    private final class Asked: APNSPoolDelegate {
        var requests: [ConnectRequest] = []
        func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {}
        func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) { requests.append(request) }
        func poolCapacityChanged(_ pool: APNSPool) {}
    }

    @Test(
        "It is no trouble of the route, and closes no other connection",
        arguments: [Destination.Kind.devices, .broadcast])
    func late(_ kind: Destination.Kind) throws {
        let context = try ThrowawayCertificates().clientContext()
        let endpoint = APNSEndpoint(host: "127.0.0.1", port: 1)
        let connector = APNSConnector(endpoint: endpoint, trust: context, limiter: ConnectRateLimiter())
        let route = try route(broadcastHosts: [Destination(.broadcast, connector: connector)])
        let host = try #require(route.hosts[kind])
        let asked = Asked()
        func open() throws {
            let pool = APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(1), connections: 1),
                loop: try EventLoop(), endpoint: endpoint,
                credential: APNSCredential(name: "c", version: 1, context: context), delegate: asked)
            host.open(pool, events: asked)
            pool.flush(now: Self.moment(1).monotonic)
        }
        let failure = APNSClientError(.timedOut, "the name service hung")
        try open()
        let first = try #require(asked.requests.first)
        host.close()
        try open()
        #expect(asked.requests.count == 2)
        #expect(route.connected(kind, .failure(failure), for: first, at: Self.moment(2)) == nil)
        #expect(host.trouble == nil && host.pool != nil && route.tally.counters.connectionsFailed == 0)
        let news = route.connected(kind, .failure(failure), for: asked.requests[1], at: Self.moment(3))
        #expect(news == .failed(failure.message, .warning) && host.trouble == failure.message)
        #expect(route.connected(kind, .failure(failure), for: asked.requests[1], at: Self.moment(4)) == nil)
    }
}
