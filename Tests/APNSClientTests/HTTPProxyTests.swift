import Testing

@testable import APNSClient

@Suite("The address of a proxy", .timeLimit(.minutes(1)))
struct HTTPProxyTests {
    @Test(
        "Host, port and user are read; user and password may be percent-encoded",
        arguments: [
            ("http://proxy:3128", "http://proxy:3128", nil),
            ("http://proxy:3128/", "http://proxy:3128", nil),
            ("HTTP://proxy.example.com", "http://proxy.example.com:80", nil),
            ("proxy:8080", "http://proxy:8080", nil),
            ("http://proxy:443", "http://proxy:443", nil),
            ("http://[::1]", "http://[::1]:80", nil),
            ("http://[::1]:3128", "http://[::1]:3128", nil),
            // RFC 7617, section 2, prints this pair.
            ("http://Aladdin:open%20sesame@proxy:1", "http://proxy:1", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("http://user@proxy:1", "http://proxy:1", "dXNlcjo="),
            ("http://u:p@a@proxy:1", "http://proxy:1", "dTpwQGE="),
            ("http://u:%3F%3e@proxy:1", "http://proxy:1", "dTo/Pg=="),
        ] as [(String, String, String?)])
    func parse(url: String, description: String, credentials: String?) throws {
        let proxy = try HTTPProxy.parse(url)
        #expect(proxy.description == description)
        #expect(proxy.credentials.map { String(decoding: $0, as: UTF8.self) } == credentials)
    }

    @Test(
        "What is not an address of a proxy is refused, without quoting it",
        arguments: [
            "", "http://", "https://u:secret@proxy:1", "socks5://secret:1", "http://proxy:secret", "http://proxy:0",
            "http://u:secret%2@proxy:1", "http://u:secret%zz@proxy:1", "http://:secret@proxy:1", "http://@proxy:1",
            "http://u:secret%0D%0A@proxy:1", "http://proxy:1/secret", "http://pro xy:1", "http://u:secret@",
        ])
    func refused(url: String) {
        let error = #expect(throws: APNSClientError.self) { try HTTPProxy.parse(url) }
        #expect(error?.code == .badAddress)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(
        "NO_PROXY names hosts with everything below them, hosts with a port, addresses, or everything",
        arguments: [
            ("", false), (" , ,", false), ("*", true), ("push.apple.com", true), (".push.apple.com", true),
            ("*.push.apple.com", true), ("API.push.Apple.com", true), ("api.push.apple.com:443", true),
            ("api.push.apple.com:2197", false), ("ush.apple.com", false), ("x.api.push.apple.com", false),
            ("localhost, 10.0.0.0/8,apple.com", true), ("a b api.push.apple.com", true), ("com:", true),
            (":443", false),
        ])
    func exceptions(text: String, contains: Bool) {
        #expect(ProxyExceptions(text).contains(APNSEndpoint(host: "api.push.apple.com", port: 443)) == contains)
        #expect(ProxyExceptions(text).contains(APNSEndpoint(host: "api.push.apple.com.", port: 443)) == contains)
    }

    @Test("An IPv6 address is an exception with and without brackets")
    func exceptionsIPv6() {
        for text in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            #expect(ProxyExceptions(text).contains(APNSEndpoint(host: "2001:db8::1", port: 443)))
        }
        #expect(!ProxyExceptions("[2001:db8::1]:444").contains(APNSEndpoint(host: "2001:db8::1", port: 443)))
    }

    @Test("The environment's proxy is not for this machine and its exceptions; a configured one is for all")
    func selection() throws {
        let proxy = try HTTPProxy.parse("proxy:1")
        let shared = ProxySelection(proxy, except: ProxyExceptions("sandbox.push.apple.com"))
        for (host, expected) in [
            ("api.push.apple.com", proxy), ("api.sandbox.push.apple.com", nil), ("localhost", nil), ("127.0.0.9", nil),
            ("::1", nil), ("10.0.0.1", proxy),
        ] {
            let endpoint = APNSEndpoint(host: host, port: 443)
            #expect(shared.proxy(for: endpoint) == expected, "\(host)")
            #expect(ProxySelection(always: proxy).proxy(for: endpoint) == proxy)
            #expect(ProxySelection(always: nil).proxy(for: endpoint) == nil)
        }
    }
}
