import Glibc
import TestSupport
import Testing

@testable import EventLoop

@Suite("Unix datagrams", .timeLimit(.minutes(1)))
struct UnixDatagramTests {
    @Test("A message comes whole, by path and by abstract name", arguments: [false, true])
    func arrives(isAbstract: Bool) throws {
        let reader = DatagramReader(isAbstract: isAbstract)
        try UnixDatagram.send("READY=1\nSTATUS=ready", to: reader.address)
        try UnixDatagram.send("WATCHDOG=1", to: reader.address)
        #expect(reader.next() == "READY=1\nSTATUS=ready")
        #expect(reader.next() == "WATCHDOG=1")
    }

    @Test("Where nobody listens, and where the reader is behind, sending fails at once and may be tried again")
    func nobody() throws {
        #expect(throws: EventLoopError.self) { try UnixDatagram.send("x", to: "@nobody-\(getpid())-\(#line)") }
        let reader = DatagramReader(isAbstract: true)
        var failure: EventLoopError?
        // The system keeps a few hundred at most (net.unix.max_dgram_qlen).
        for _ in 0..<100_000 where failure == nil {
            do throws(EventLoopError) { try UnixDatagram.send("x", to: reader.address) } catch { failure = error }
        }
        #expect(failure?.errno == EAGAIN)
        #expect(reader.next() == "x")
        try UnixDatagram.send("y", to: reader.address)
    }

    @Test(
        "An invalid address is refused with its limits",
        arguments: ["", "@", "/", "relative", "vsock:2:1", "/\(String(repeating: "x", count: 107))"])
    func malformed(address: String) throws {
        let error = try #require(throws: EventLoopError.self) { try UnixDatagram.send("x", to: address) }
        #expect(error.message.contains("2 to 107 bytes"))
        #expect(!error.isRetriable)
    }

    @Test("The longest address works")
    func longest() throws {
        let name = "@\(getpid())-\(String(repeating: "n", count: 107))".prefix(107)
        let reader = DatagramReader(address: String(name))
        try UnixDatagram.send("x", to: reader.address)
        #expect(reader.next() == "x")
    }
}
