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
        "What is no address of a proxy is refused, without quoting it",
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

@Suite("A proxy's answer to CONNECT", .timeLimit(.minutes(1)))
struct ProxyTunnelStateMachineTests {
    typealias Progress = ProxyTunnelStateMachine.Progress

    @Test("CONNECT names host and port, and authorizes where there is a user")
    func request() {
        let plain = ProxyTunnelStateMachine.request(
            to: APNSEndpoint(host: "api.push.apple.com", port: 443), credentials: nil)
        #expect(
            String(decoding: plain, as: UTF8.self)
                == "CONNECT api.push.apple.com:443 HTTP/1.1\r\nHost: api.push.apple.com:443\r\n\r\n")
        let authorized = ProxyTunnelStateMachine.request(
            to: APNSEndpoint(host: "::1", port: 2197), credentials: Array("dTpw".utf8))
        #expect(
            String(decoding: authorized, as: UTF8.self)
                == "CONNECT [::1]:2197 HTTP/1.1\r\nHost: [::1]:2197\r\nProxy-Authorization: Basic dTpw\r\n\r\n")
    }

    @Test(
        "Every answer is understood, however it is cut into pieces",
        arguments: [
            ("HTTP/1.1 200 Connection established\r\n\r\n", .open),
            ("HTTP/1.0 200 OK\r\nProxy-agent: tinyproxy/1.11.1\r\n\r\n", .open),
            ("HTTP/1.1 204 \r\n\r\n", .open),
            ("HTTP/1.1 200\r\n\r\n", .open),
            ("HTTP/1.1 200 OK\n\n", .open),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .open),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .open),
            ("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", .refused(407)),
            ("HTTP/1.1 502 \u{fe}\u{ff}\r\n\r\n", .refused(502)),
            ("HTTP/1.1 101 Switching\r\n\r\n", .refused(101)),
            ("HTTP/1.1 301 Moved\r\nLocation: https://u:p@x/\r\n\r\n", .refused(301)),
            ("HTTP/1.1 200 OK\r\nX: y\r\n", .needsMore),
            ("HTTP/1.", .needsMore), ("", .needsMore),
            ("HTTP/2 200 OK\r\n\r\n", .malformed("its answer is not HTTP")),
            ("HTTP/1.1 20 OK\r\n\r\n", .malformed("its answer is not HTTP")),
            ("HTTP/1.1 2000 OK\r\n\r\n", .malformed("its answer is not HTTP")),
            ("HTTP/1.1 +20 OK\r\n\r\n", .malformed("its answer is not HTTP")),
            ("HTTP/1.1 099 OK\r\n\r\n", .malformed("its answer is not HTTP")),
            ("HTTP/1.1\r\n\r\n", .malformed("its answer is not HTTP")),
            ("SSH-2.0-OpenSSH_9.2\r\n", .malformed("its answer is not HTTP")),
            ("\r\n\r\n", .malformed("its answer is not HTTP")),
            ("\u{15}\u{3}\u{1}", .malformed("its answer is not HTTP")),
        ] as [(String, Progress)])
    func answers(text: String, expected: Progress) {
        for size in [1, 2, 7, 100_000] {
            var machine = ProxyTunnelStateMachine()
            var progress = Progress.needsMore
            var rest = Array(text.utf8)[...]
            while progress == .needsMore, !rest.isEmpty {
                progress = machine.receive(Array(rest.prefix(size)).span)
                rest = rest.dropFirst(size)
            }
            #expect(progress == expected, "in pieces of \(size)")
        }
    }

    @Test("Bytes behind the head would come from nobody, and are refused")
    func early() {
        var machine = ProxyTunnelStateMachine()
        let answer = Array("HTTP/1.1 200 OK\r\n\r\nhello".utf8)
        #expect(machine.receive(answer.span) == .malformed("it sent data before there was a tunnel"))
    }

    @Test("An answer without end is given up at the limit, in one head or in many interim ones")
    func endless() {
        for piece in ["X-More: of the same\r\n", "HTTP/1.1 100 Continue\r\n\r\n"] {
            var machine = ProxyTunnelStateMachine()
            var progress = machine.receive(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8).span)
            if !piece.hasPrefix("HTTP") { progress = machine.receive(Array("HTTP/1.1 200 OK\r\n".utf8).span) }
            var count = 0
            while progress == .needsMore, count < 10_000 {
                progress = machine.receive(Array(piece.utf8).span)
                count += 1
            }
            #expect(progress == .malformed("its answer has no end"))
            #expect(count * piece.utf8.count <= ProxyTunnelStateMachine.headLimit + piece.utf8.count)
        }
    }

    @Test(
        "A refusal says what to mend, and never user or password",
        arguments: [
            (407, "http://proxy:1", .proxyDenied, "write user and password"),
            (407, "http://u:secret@proxy:1", .proxyDenied, "refuses the configured user and password"),
            (403, "http://u:secret@proxy:1", .proxyDenied, "does not allow"),
            (502, "http://u:secret@proxy:1", .proxy, "cannot reach api.push.apple.com port 443"),
            (200, "http://u:secret@proxy:1", .proxy, "is it an HTTP proxy"),
        ] as [(Int, String, APNSClientError.Code, String)])
    func refusals(status: Int, proxy: String, code: APNSClientError.Code, text: String) throws {
        let parsed = try HTTPProxy.parse(proxy)
        let error = ProxyTunnelStateMachine.error(
            status: status, from: parsed, to: APNSEndpoint(host: "api.push.apple.com", port: 443))
        #expect(error.code == code)
        #expect(error.message.contains(text))
        #expect(error.message.contains("http://proxy:1"))
        #expect(!error.message.contains("secret"))
        #expect(!error.message.contains(String(decoding: parsed.credentials ?? [1], as: UTF8.self)))
    }
}
