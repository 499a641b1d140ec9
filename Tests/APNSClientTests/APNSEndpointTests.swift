import TestSupport
import Testing

@testable import APNSClient

@Suite("Addresses of APNs", .timeLimit(.minutes(1)))
struct APNSEndpointTests {
    @Test(
        "A URL gives host, port and authority",
        arguments: [
            ("https://api.push.apple.com", "api.push.apple.com", 443, "api.push.apple.com"),
            ("https://api.push.apple.com:443/", "api.push.apple.com", 443, "api.push.apple.com"),
            (
                "HTTPS://api.sandbox.push.apple.com:2197", "api.sandbox.push.apple.com", 2197,
                "api.sandbox.push.apple.com:2197"
            ),
            ("https://[::1]:8443", "::1", 8443, "[::1]:8443"), ("https://[::1]", "::1", 443, "[::1]"),
            ("https://127.0.0.1:1", "127.0.0.1", 1, "127.0.0.1:1"),
        ])
    func good(url: String, host: String, port: Int, authority: String) throws {
        let endpoint = try APNSEndpoint.parse(url)
        #expect(endpoint == APNSEndpoint(host: host, port: port))
        #expect(endpoint.authority == authority)
    }

    @Test(
        "Anything else is an error that says what is wrong",
        arguments: [
            "", "api.push.apple.com", "http://api.push.apple.com", "https://", "https://host/path", "https://host?x",
            "https://host:", "https://host:0", "https://host:65536", "https://host:44x", "https://host:+44",
            "https://::1", "https://[::1", "https://[::1]x", "https://[host]", "https://ho st",
            "https://user:secret@host",
        ])
    func bad(url: String) {
        let error = #expect(throws: APNSClientError.self) { try APNSEndpoint.parse(url) }
        #expect(error?.code == .badAddress)
        #expect(error?.message.contains("secret") == false)
    }
}
