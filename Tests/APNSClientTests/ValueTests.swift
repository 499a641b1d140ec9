import EventLoop
import HTTP2
import PushModel
import TLS
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

@Suite("Small texts", .timeLimit(.minutes(1)))
struct TextTests {
    @Test(
        "Base64 for URLs has no padding",
        arguments: [
            ([], ""), ([0xFB], "-w"), ([0xFB, 0xFF], "-_8"), ([0xFB, 0xFF, 0xBF], "-_-_"),
            (Array("fooba".utf8), "Zm9vYmE"),
        ] as [([UInt8], String)])
    func base64(bytes: [UInt8], expected: String) {
        var output: [UInt8] = []
        Base64URL.append(bytes, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }

    @Test(
        "HTTP dates in their preferred form are read, others are not",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2028 23:59:59 GMT", 1_835_481_599), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun, 06 Nox 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil), ("", nil),
        ] as [(String, Int64?)])
    func date(text: String, expected: Int64?) {
        let seconds = HTTPDate.seconds(Array(text.utf8).span)
        #expect(seconds == expected)
    }

    @Test(
        "A GOAWAY is described by its code and reason, or by what its text shows of itself",
        arguments: [
            ("", "NO_ERROR"), (#"{"reason":"BadCertificateEnvironment"}"#, "NO_ERROR, BadCertificateEnvironment"),
            ("Maximum active\nstreams", "NO_ERROR, Maximum active?streams"),
        ])
    func goAway(debug: String, expected: String) {
        let frame = HTTP2GoAway(lastStreamID: 1, code: .noError, debugData: Array(debug.utf8))
        #expect(GoAwayText.describe(frame) == expected)
    }
}

@Suite("What a refusal says", .timeLimit(.minutes(1)))
struct ErrorBodyTests {
    @Test("Of a reason that APNs makes up so much is kept as fits a header", arguments: [1, 255, 256, 257, 4_000])
    func length(length: Int) {
        var body = Array(#"{"reason":"\#(String(repeating: "R", count: length))","timestamp":7}"#.utf8)
        let refusal = ErrorBody(reading: &body)
        #expect(refusal.reason?.rawValue.utf8.count == min(length, 256) && refusal.timestamp == 7)
    }
}

@Suite("Connecting", .timeLimit(.minutes(1)))
struct APNSConnectorTests {
    @Test("Addresses to be avoided come last, and are used all the same")
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
        #expect(connector.enterLine(.idle).ask(now: now) == .zero)
        #expect(connector.enterLine(.idle).ask(now: now) >= .seconds(3600))
        // With a place or without one: whoever calls has waited.
        for _ in 0..<3 {
            #expect(throws: APNSClientError.self) { try connector.connect(avoiding: [], timeout: .seconds(1)) }
        }
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
