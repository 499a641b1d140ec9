import Testing

@testable import EventLoop

@Suite("Addresses and names", .timeLimit(.minutes(1)))
struct SocketAddressTests {
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
