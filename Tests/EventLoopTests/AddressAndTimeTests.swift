import Testing

@testable import EventLoop

@Suite("Addresses and names", .timeLimit(.minutes(1)))
struct AddressTests {
    @Test(
        "literals are read and written",
        arguments: [
            ("127.0.0.1", "127.0.0.1:443", true),
            ("127.255.0.9", "127.255.0.9:443", true),
            ("17.188.143.34", "17.188.143.34:443", false),
            ("::1", "[::1]:443", true),
            ("[::1]", "[::1]:443", true),
            ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]:443", true),
            ("::ffff:10.0.0.1", "[::ffff:10.0.0.1]:443", false),
            ("2001:DB8:0::5", "[2001:db8::5]:443", false),
            ("::", "[::]:443", false),
            ("0.0.0.0", "0.0.0.0:443", false),
        ])
    func literal(text: String, description: String, isLoopback: Bool) throws {
        let address = try #require(SocketAddress(text, port: 443))
        #expect(address.description == description)
        #expect(address.isLoopback == isLoopback)
        #expect(address.port == 443)
        #expect(SocketAddress(address.host, port: 443) == address)
    }

    @Test(
        "anything else is not an address",
        arguments: ["", "localhost", "127.1", "1.2.3.4.5", "256.0.0.1", "[127.0.0.1", "[]", ":::", "1.2.3.4\n", " ::1"])
    func notLiteral(text: String) {
        #expect(SocketAddress(text, port: 1) == nil)
    }

    @Test("ports are 0 to 65535", arguments: [(-1, false), (0, true), (65535, true), (65536, false)])
    func port(number: Int, isPossible: Bool) {
        #expect((SocketAddress("::1", port: number) != nil) == isPossible)
    }

    @Test("this machine's own name has addresses, all of them its own, each once")
    func resolve() throws {
        let addresses = try Resolver.addresses(host: "localhost", port: 8443)
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.isLoopback && $0.port == 8443 })
        #expect(Set(addresses).count == addresses.count)
        #expect(try Resolver.addresses(host: "[::1]", port: 5).map(\.description) == ["[::1]:5"])
    }

    @Test("a name that cannot exist has none, and the error names it", arguments: ["no-such-host.invalid", "a b"])
    func unresolvable(host: String) {
        let error = #expect(throws: EventLoopError.self) { try Resolver.addresses(host: host, port: 1) }
        #expect(error?.code == .resolutionFailed)
        #expect(error?.message.contains(host) == true)
    }

    @Test("a port out of range is not looked up")
    func badPort() {
        let error = #expect(throws: EventLoopError.self) { try Resolver.addresses(host: "localhost", port: 65536) }
        #expect(error?.isRetriable == false)
    }
}

@Suite("Time", .timeLimit(.minutes(1)))
struct TimeTests {
    @Test("goes on, and the calendar is this century's")
    func clocks() {
        let first = MonotonicTime.now()
        #expect(MonotonicTime.now() >= first)
        #expect(WallClock.milliseconds() > 1_700_000_000_000)
    }

    @Test("differences never go below zero, sums never overflow")
    func arithmetic() {
        let start = MonotonicTime(nanoseconds: 5)
        #expect(start.nanoseconds(since: MonotonicTime(nanoseconds: 9)) == 0)
        #expect(MonotonicTime(nanoseconds: 9).nanoseconds(since: start) == 4)
        #expect(start.adding(nanoseconds: .max).nanoseconds == .max)
        #expect(start.adding(.seconds(2)).nanoseconds == 2_000_000_005)
        #expect(start.adding(.seconds(-2)) == start)
        #expect(start.adding(.seconds(Int64.max)).nanoseconds == .max)
    }

    @Test(
        "durations become whole nanoseconds, rounded down, and stay within what can be counted",
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (Duration.nanoseconds(3) / 2, 1), (.seconds(30), 30_000_000_000),
            (.nanoseconds(-1), 0), (Duration.nanoseconds(-1) / 2, 0), (.seconds(Int64.min), 0),
            (.nanoseconds(UInt64.max), .max), (.nanoseconds(UInt64.max) + .nanoseconds(1), .max),
            (.seconds(Int64.max), .max),
        ] as [(Duration, UInt64)])
    func wholeNanoseconds(duration: Duration, expected: UInt64) {
        #expect(duration.clampedNanoseconds == expected)
    }

    @Test("a drawn duration lies within its bounds and may be each of them")
    func draw() {
        var random = SystemRandomNumberGenerator()
        let drawn = Set((0..<200).map { _ in Duration.random(in: .nanoseconds(2)...(.nanoseconds(4)), using: &random) })
        #expect(drawn == [.nanoseconds(2), .nanoseconds(3), .nanoseconds(4)])
        #expect(Duration.random(in: .seconds(2)...(.seconds(2)), using: &random) == .seconds(2))
    }

    @Test(
        "waits are rounded up to whole milliseconds",
        arguments: [
            (Duration.zero, Int32(0)), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(-1), 0), (.seconds(3_000_000), .max),
        ])
    func rounding(duration: Duration, milliseconds: Int32) {
        #expect(duration.pollMilliseconds == milliseconds)
    }
}
