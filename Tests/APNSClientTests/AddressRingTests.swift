import EventLoop
import HTTP2
import PushModel
import Synchronization
import TestSupport
import Testing

@testable import APNSClient

/// Two servers behind one name, as a name server would tell: 127.0.0.1 and 127.0.0.2 with the same port.
private final class TwoAddresses {
    let servers: [ScriptedServer]
    let driver: PoolDriver
    let addresses: [SocketAddress]
    private let lookups: Lookups

    /// Counts lookups, on helper threads.
    private final class Lookups: Sendable {
        let count = Mutex(0)
    }

    init(_ change: (inout APNSPoolConfiguration) -> Void = { _ in }) throws {
        let loop = try EventLoop()
        let certificates = try ThrowawayCertificates()
        let context = try certificates.serverContext()
        let first = try ScriptedServer(loop: loop, context: context)
        let other = try #require(SocketAddress("127.0.0.2", port: first.port))
        servers = [first, try ScriptedServer(loop: loop, context: context, address: other)]
        let addresses = [SocketAddress.loopback(port: first.port), other]
        self.addresses = addresses
        let lookups = Lookups()
        self.lookups = lookups
        driver = try PoolDriver(
            loop: loop, port: first.port, trust: certificates.trust, tokens: nil,
            names: NameServer { _, _ in
                lookups.count.withLock { $0 += 1 }
                return addresses
            }, change)
    }

    deinit {
        for server in servers { server.close() }
    }

    var lookupCount: Int { lookups.count.withLock { $0 } }

    /// The server that took the first connection, and the other one.
    func sides() throws -> (used: Int, free: Int) {
        let used = try #require(servers.firstIndex { $0.accepted > 0 })
        return (used, 1 - used)
    }
}

@Suite("Addresses of APNs", .timeLimit(.minutes(1)), .serialized)
struct AddressRingTests {
    @Test("Every connect looks the name up afresh, and takes an address that is not in use")
    func spread() throws {
        for _ in 0..<4 {
            let two = try TwoAddresses { $0.connections = .fixed(2) }
            try two.driver.turn { two.driver.pool.status.open == 2 }
            #expect(Set(two.driver.pool.status.addresses) == Set(two.addresses))
            #expect(two.lookupCount == 2)
            #expect(two.driver.connectRequests.last?.avoiding == [try #require(two.driver.pool.status.addresses.first)])
        }
    }

    @Test("Connects are staggered: the second waits for the interval although the first is done")
    func staggered() throws {
        let two = try TwoAddresses {
            $0.connections = .fixed(2)
            $0.openInterval = .milliseconds(200)
        }
        let start = MonotonicTime.now()
        try two.driver.turn { two.driver.connectRequests.count == 2 }
        #expect(MonotonicTime.now().nanoseconds(since: start) >= 195_000_000)
        try two.driver.turn { two.driver.pool.status.open == 2 }
    }

    @Test(
        "A connection that fails again and again is retired to the other address, which stays the preferred one",
        arguments: ["500", "silent", "frozen"])
    func retired(trouble: String) throws {
        let two = try TwoAddresses {
            $0.requestTimeout = .seconds(1)
            $0.pingTimeout = .seconds(1)
        }
        try two.driver.turn { two.driver.pool.status.roundTrip > .zero }
        let (used, free) = try two.sides()
        switch trouble {
        case "500": two.servers[used].script = { _ in [.respond(500, #"{"reason":"InternalServerError"}"#)] }
        case "silent": two.servers[used].script = { _ in [] }
        default: two.servers[used].isFrozen = true
        }
        let job = try Jobs.make()
        let count = trouble == "500" ? APNSConnectionStateMachine.serverErrorLimit : 3
        two.driver.submit(job, tags: 0..<count)
        try two.driver.turn { two.driver.answers.count == count && two.driver.pool.status.addresses.count == 1 }
        try two.driver.turn { two.driver.pool.status.addresses == [two.addresses[free]] }
        try two.driver.send(job, count: 20)
        #expect(two.driver.statuses.suffix(20).allSatisfy { $0 == 200 })

        // The troubled address is avoided also later, when nothing uses it any more.
        let connects = two.driver.connectRequests.count
        two.driver.pool.refreshCredential(now: .now())
        try two.driver.turn { two.driver.connectRequests.count > connects }
        #expect(two.driver.connectRequests.last?.avoiding.contains(two.addresses[used]) == true)
    }

    @Test("Errors of one kind of request do not retire a connection on which others succeed")
    func mixed() throws {
        let two = try TwoAddresses()
        for server in two.servers {
            server.script = { [.respond($0.number % 5 == 4 ? 200 : 500)] }
        }
        try two.driver.send(try Jobs.make(), count: 100)
        #expect(two.driver.connectRequests.count == 1)
        #expect(two.servers.map(\.accepted).reduce(0, +) == 1)
    }
}
