import Testing

@testable import APNSClient

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
