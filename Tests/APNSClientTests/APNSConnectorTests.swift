import Dispatch
import TLS
import TestSupport
import Testing

@testable import APNSClient
@testable import EventLoop

@Suite("Connecting", .timeLimit(.minutes(1)))
struct APNSConnectorTests {
    @Test("Addresses to be avoided come last, but are still used")
    func order() {
        let addresses = (1...5).map { SocketAddress.loopback(port: $0) }
        for _ in 0..<20 {
            let order = APNSConnector.order(addresses, avoiding: [addresses[0], addresses[3]])
            #expect(Set(order) == Set(addresses))
            #expect(Set(order.suffix(2)) == [addresses[0], addresses[3]])
        }
    }

    @Test("A port nobody listens on is unreachable")
    func refused() throws {
        let port = try Listener(address: .loopback(port: 0)).address.port
        let error = try failure(port: port)
        #expect(error.code == .unreachable)
        #expect(error.isRetriable)
    }

    @Test("A host without an address is unreachable")
    func unknownHost() throws {
        let certificates = try ThrowawayCertificates()
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "martlet.invalid", port: 1), trust: try certificates.clientContext(),
            limiter: ConnectRateLimiter())
        let error = #expect(throws: APNSClientError.self) { try connector.connect(avoiding: [], timeout: .seconds(1)) }
        #expect(error?.code == .unreachable)
    }

    @Test("Only the place in the pace is waited for, not the connect: of two at once the second is told how long")
    func pace() throws {
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "127.0.0.1", port: try Listener(address: .loopback(port: 0)).address.port),
            trust: try ThrowawayCertificates().clientContext(),
            limiter: ConnectRateLimiter(.init(hostInterval: .seconds(3600), hostBurst: 1)))
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var random = SystemRandomNumberGenerator()
        #expect(connector.enterLine(.idle).ask(now: now, random: &random) == .zero)
        #expect(connector.enterLine(.idle).ask(now: now, random: &random) >= .seconds(3600))
        // With a place or without one: whoever calls has waited.
        for _ in 0..<3 {
            #expect(throws: APNSClientError.self) { try connector.connect(avoiding: [], timeout: .seconds(1)) }
        }
    }

    @Test("No more look-ups hang than there are places: the next connect fails at once, and each that ends makes room")
    func hungLookUps() throws {
        let (begun, answers) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "apns.test", port: 443), trust: try ThrowawayCertificates().clientContext(),
            limiter: ConnectRateLimiter(), places: BlockingCall.Places(2),
            resolve: { _, _ in
                begun.signal()
                answers.wait()
                return []
            })
        let request = ConnectRequest(id: 1, avoiding: [], timeout: .seconds(5))
        func failure() -> APNSClientError? {
            guard case .failure(let error) = connector.result(of: request) else { return nil }
            return error
        }
        let threads = try (0..<2).map { _ in
            try LoopThread.start(name: "connect") { _ = connector.result(of: request) }
        }
        for _ in threads { begun.wait() }
        let crowded = failure()
        #expect(crowded?.code == .unreachable && crowded?.isRetriable == true)
        #expect(crowded?.message.contains("2 calls wait for the system already") == true, "\(crowded as Any)")

        for _ in 0..<3 { answers.signal() }
        for thread in threads { thread.join() }
        #expect(failure()?.code == .timedOut, "it was looked up, and has no address")
        #expect(begun.wait(timeout: .now()) == .success)
        #expect(APNSConnector.lookUps.limit == BlockingCall.mostAtOnce)
    }

    @Test("A server that says nothing runs into the timeout")
    func silent() throws {
        let listener = try Listener(address: .loopback(port: 0))
        let error = try failure(port: listener.address.port, timeout: .milliseconds(100))
        #expect(error.code == .timedOut)
    }

    @Test(
        "Only a trusted server that speaks h2 is accepted, unless its silence about protocols is",
        arguments: [
            (["h2"], true, nil), ([], true, .http2), ([], false, nil), (["h2"], false, nil),
        ] as [([String], Bool, APNSClientError.Code?)])
    func protocols(offered: [String], requires: Bool, expected: APNSClientError.Code?) throws {
        let certificates = try ThrowawayCertificates()
        let context = try TLSContext.server(
            identity: try certificates.server(), applicationProtocols: offered, clientTrust: nil)
        let loop = try EventLoop()
        let server = try ScriptedServer(loop: loop, context: context)
        defer { server.close() }
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "127.0.0.1", port: server.port), trust: try certificates.clientContext(),
            limiter: ConnectRateLimiter(), requiresALPN: requires)
        let mailbox = Mailbox<Parcel>(waking: loop.wakeup)
        let request = ConnectRequest(id: 1, avoiding: [], timeout: .seconds(5))
        let thread = try LoopThread.start(name: "connect") { mailbox.post(Parcel(connector.result(of: request))) }
        var parcels: [Parcel] = []
        _ = try turn(loop) {
            parcels += mailbox.take()
            return !parcels.isEmpty
        }
        thread.join()
        switch try #require(parcels.first).result {
        case .success(let connection):
            #expect(expected == nil)
            #expect(connection.protocolVersion.hasPrefix("TLSv1."))
        case .failure(let error): #expect(error.code == expected)
        }
    }

    private func failure(port: Int, timeout: Duration = .seconds(5)) throws -> APNSClientError {
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "127.0.0.1", port: port),
            trust: try ThrowawayCertificates().clientContext(), limiter: ConnectRateLimiter())
        switch connector.result(of: ConnectRequest(id: 1, avoiding: [], timeout: timeout)) {
        case .success: throw Ring.TimedOut()
        case .failure(let error): return error
        }
    }
}
