import EventLoop
import LocalStack
import TLS
import TestSupport
import Testing

@testable import APNSClient

@Suite("Through an HTTP proxy", .timeLimit(.minutes(1)), .serialized)
struct ProxyRingTests {
    @Test("Pushes go through tinyproxy with user and password, and APNs' own certificate is what is checked")
    func tunnel() throws {
        let certificates = try ThrowawayCertificates()
        let loop = try EventLoop()
        let server = try ScriptedServer(loop: loop, context: try certificates.serverContext())
        defer { server.close() }
        let proxy = try Tinyproxy(allowing: server.port)
        let driver = try PoolDriver(
            loop: loop, port: server.port, trust: certificates.trust, tokens: nil, proxy: try proxy.address())
        try driver.send(try Jobs.make(), count: 200)
        #expect(driver.statuses.allSatisfy { $0 == 200 })
        #expect(server.accepted == 1)
        #expect(driver.pool.status.addresses == [.loopback(port: proxy.port)])
    }

    @Test(
        "A server behind the proxy that is not the APNs asked for is refused before anything is sent",
        arguments: [["other.example"], ["localhost"]])
    func otherName(names: [String]) throws {
        let certificates = try ThrowawayCertificates()
        let loop = try EventLoop()
        let server = try ScriptedServer(loop: loop, context: try certificates.serverContext(names: names))
        defer { server.close() }
        let proxy = try Tinyproxy(allowing: server.port)
        let driver = try PoolDriver(
            loop: loop, port: server.port, trust: certificates.trust, tokens: nil, proxy: try proxy.address())
        try driver.turn { !driver.connectErrors.isEmpty }
        #expect(driver.connectErrors.first?.code == .untrusted)
        #expect(server.requests.isEmpty)
    }

    @Test(
        "tinyproxy refuses strangers, wrong passwords and ports it does not allow, and the error says which",
        arguments: [
            ("", true, .proxyDenied), ("martlet:wrong-secret@", true, .proxyDenied),
            ("martlet:open-sesame@", false, .proxyDenied),
        ] as [(String, Bool, APNSClientError.Code)])
    func denied(userInformation: String, allows: Bool, code: APNSClientError.Code) throws {
        let certificates = try ThrowawayCertificates()
        let loop = try EventLoop()
        let server = try ScriptedServer(loop: loop, context: try certificates.serverContext())
        defer { server.close() }
        let proxy = try Tinyproxy(allowing: allows ? server.port : 443)
        let driver = try PoolDriver(
            loop: loop, port: server.port, trust: certificates.trust, tokens: nil,
            proxy: try proxy.address(userInformation))
        try driver.turn { !driver.connectErrors.isEmpty }
        let error = try #require(driver.connectErrors.first)
        #expect(error.code == code, "\(error)")
        #expect(!error.isRetriable)
        #expect(!error.message.contains("secret") && !error.message.contains("sesame"))
        #expect(server.accepted == 0)
    }

    @Test("A server that nobody listens for behind tinyproxy is the proxy's failure, and may be tried again")
    func nobodyBehind() throws {
        let certificates = try ThrowawayCertificates()
        let port = try FreePort.next()
        let proxy = try Tinyproxy(allowing: port)
        let driver = try PoolDriver(
            loop: try EventLoop(), port: port, trust: certificates.trust, tokens: nil, proxy: try proxy.address())
        try driver.turn { !driver.connectErrors.isEmpty }
        let error = try #require(driver.connectErrors.first)
        #expect(error.code == .proxy, "\(error)")
        #expect(error.isRetriable)
    }

    @Test("A proxy nobody listens for is unreachable by name")
    func noProxy() throws {
        let port = try FreePort.next()
        let driver = try PoolDriver(
            loop: try EventLoop(), port: 1, trust: try ThrowawayCertificates().trust, tokens: nil,
            proxy: try HTTPProxy.parse("http://u:secret@127.0.0.1:\(port)"))
        try driver.turn { !driver.connectErrors.isEmpty }
        let error = try #require(driver.connectErrors.first)
        #expect(error.code == .unreachable)
        #expect(error.message.contains("the proxy http://127.0.0.1:\(port)"))
        #expect(!error.message.contains("secret"))
    }

    @Test(
        "Whatever a proxy answers ends in an error, in time, without the password it may have echoed",
        arguments: [
            ("HTTP/1.1 407 Basic dTpzZWNyZXQ= u:secret\r\n\r\n", false, .proxyDenied),
            ("HTTP/1.1 403 secret\r\n\r\nsecret", false, .proxyDenied),
            ("HTTP/1.1 503 secret\r\n\r\n", true, .proxy),
            ("secret", false, .proxy),
            ("HTTP/1.1 200 OK\r\n\r\nsecret", false, .proxy),
            ("HTTP/1.1 200 OK\r\nsecret: ", false, .timedOut),
            ("HTTP/1.1 200 OK\r\nsecret: ", true, .proxy),
            ("HTTP/1.1 200 OK\r\n\r\n", false, .timedOut),
            ("HTTP/1.1 200 OK\r\n\r\n", true, .tls),
            ("", false, .timedOut), ("", true, .proxy),
            ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "secret", count: 100_000), false, .proxy),
        ] as [(String, Bool, APNSClientError.Code)])
    func hostile(answer: String, closes: Bool, code: APNSClientError.Code) throws {
        let loop = try EventLoop()
        let proxy = try ScriptedProxy(loop: loop, answer: Array(answer.utf8), closes: closes)
        defer { proxy.close() }
        let driver = try PoolDriver(
            loop: loop, port: 443, trust: try ThrowawayCertificates().trust, tokens: nil,
            proxy: try HTTPProxy.parse("http://u:secret@127.0.0.1:\(proxy.port)")
        ) { $0.connectTimeout = code == .timedOut ? .milliseconds(300) : .seconds(20) }
        try driver.turn { !driver.connectErrors.isEmpty && !proxy.requests.isEmpty }
        let error = try #require(driver.connectErrors.first)
        #expect(error.code == code, "\(error)")
        #expect(!error.message.contains("secret") && !error.message.contains("dTpzZWNyZXQ="))
        #expect(
            proxy.requests.first
                == "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n"
                + "Proxy-Authorization: Basic dTpzZWNyZXQ=\r\n\r\n")
    }
}
