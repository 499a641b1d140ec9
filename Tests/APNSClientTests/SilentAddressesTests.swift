import EventLoop
import Testing

@testable import APNSClient

@Suite("Addresses that kept silent", .timeLimit(.minutes(1)))
struct SilentAddressesTests {
    @Test("They are avoided for ten minutes after they were noted last")
    func memory() throws {
        let one = try #require(SocketAddress("127.0.0.1", port: 443))
        let other = try #require(SocketAddress("127.0.0.2", port: 443))
        let start = MonotonicTime(nanoseconds: 0)
        var addresses = SilentAddresses()
        addresses.note(one, now: start)
        addresses.note(other, now: start)
        addresses.note(other, now: start + .seconds(300))
        #expect(Set(addresses.current(now: start + .seconds(599))) == [one, other])
        #expect(Set(addresses.current(now: start + .seconds(600))) == [other])
        #expect(addresses.current(now: start + .seconds(900)).isEmpty)
    }
}
