import EventLoop
import Foundation
import Glibc
import LocalStack
import Synchronization
import Testing

@testable import PushWorker

@Suite("Who may ask the admin server", .timeLimit(.minutes(1)))
struct AdminGateTests {
    private static let token = "a-token-of-24-characters"

    /// A request, and what becomes of it at a server of this machine and at one that others reach.
    struct Row: Sendable {
        var isReading = true
        var path: String
        var authorization: String?
        var here: AdminGate.Verdict
        var elsewhere: AdminGate.Verdict
    }

    static let rows = [
        Row(path: "/livez", here: .open, elsewhere: .brief),
        Row(path: "/readyz", here: .open, elsewhere: .brief),
        Row(path: "/metrics", here: .open, elsewhere: .unauthorized),
        Row(path: "/anything", here: .open, elsewhere: .unauthorized),
        Row(path: "/readyz", authorization: "Bearer \(token)", here: .open, elsewhere: .open),
        Row(path: "/metrics", authorization: "bearer  \(token)", here: .open, elsewhere: .open),
        Row(path: "/livez", authorization: "Bearer \(token)x", here: .open, elsewhere: .brief),
        Row(path: "/metrics", authorization: "Bearer \(token)x", here: .open, elsewhere: .unauthorized),
        Row(path: "/metrics", authorization: "Bearer", here: .open, elsewhere: .unauthorized),
        Row(path: "/metrics", authorization: "Basic \(token)", here: .open, elsewhere: .unauthorized),
        Row(path: "/metrics", authorization: "", here: .open, elsewhere: .unauthorized),
        Row(isReading: false, path: "/livez", here: .unauthorized, elsewhere: .unauthorized),
        Row(isReading: false, path: "/anything", here: .unauthorized, elsewhere: .unauthorized),
        Row(isReading: false, path: "/anything", authorization: "Bearer \(token)", here: .open, elsewhere: .open),
        Row(
            isReading: false, path: "/anything", authorization: "Bearer wrong-wrong-wrong-wrong", here: .unauthorized,
            elsewhere: .unauthorized),
    ]

    @Test("reading is free on this machine, and whatever changes something needs the token everywhere", arguments: rows)
    func verdicts(_ row: Row) throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let file = try directory.write("\(Self.token)\n", to: "token")
        for (isLoopback, expected) in [(true, row.here), (false, row.elsewhere)] {
            let gate = AdminGate(isLoopback: isLoopback, tokenFile: file)
            #expect(
                gate.verdict(
                    isReading: row.isReading, path: row.path, host: "localhost", authorization: row.authorization)
                    == expected)
        }
    }

    @Test(
        "a server of this machine answers only to localhost and to addresses, so that no page of another name reads it",
        arguments: [
            (nil, true), ("localhost", true), ("LocalHost:9464", true), ("127.0.0.1", true), ("127.0.0.1:1", true),
            ("[::1]:9464", true), ("10.1.2.3", true), ("", false), ("evil.example", false),
            ("evil.example:9464", false), ("localhost.evil.example", false), ("127.0.0.1.evil.example", false),
            ("localhost:", false),
            ("127.1", false), ("[::1", false),
        ] as [(String?, Bool)])
    func hosts(_ host: String?, isAnswered: Bool) {
        let here = AdminGate(isLoopback: true, tokenFile: nil)
        let verdict = here.verdict(isReading: true, path: "/metrics", host: host, authorization: nil)
        #expect(verdict == (isAnswered ? .open : .misdirected))
        // Elsewhere names are as good as addresses, and the token decides.
        let elsewhere = AdminGate(isLoopback: false, tokenFile: nil)
        #expect(elsewhere.verdict(isReading: true, path: "/livez", host: host, authorization: nil) == .brief)
    }

    @Test("without a usable token file nothing can be changed and no token is right")
    func noToken() throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let none = AdminGate(isLoopback: true, tokenFile: nil)
        #expect(none.verdict(isReading: false, path: "/", host: nil, authorization: nil) == .forbidden)
        #expect(none.verdict(isReading: false, path: "/", host: nil, authorization: "Bearer ") == .forbidden)
        for text in ["short", "\n", ""] {
            let gate = AdminGate(isLoopback: true, tokenFile: try directory.write(text, to: "token"))
            let verdict = gate.verdict(isReading: false, path: "/", host: nil, authorization: "Bearer \(text)")
            #expect(verdict == .unauthorized)
        }
        let missing = AdminGate(isLoopback: true, tokenFile: "/nowhere/token")
        #expect(missing.verdict(isReading: false, path: "/", host: nil, authorization: "Bearer x") == .unauthorized)
    }

    @Test("a changed token holds from the next request on")
    func rotates() throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let gate = AdminGate(isLoopback: false, tokenFile: try directory.write(Self.token, to: "token"))
        try directory.write("another-token-of-a-day", to: "token")
        for (token, expected) in [(Self.token, AdminGate.Verdict.unauthorized), ("another-token-of-a-day", .open)] {
            let verdict = gate.verdict(
                isReading: true, path: "/metrics", host: nil, authorization: "Bearer \(token)")
            #expect(verdict == expected)
        }
    }

    @Test("a pipe in the place of the token's file is refused and not waited for")
    func pipe() throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let pipe = directory.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let gate = AdminGate(isLoopback: true, tokenFile: pipe)
        #expect(gate.verdict(isReading: false, path: "/", host: nil, authorization: "Bearer x") == .unauthorized)
    }

    @Test("strangers at a reachable address learn whether the worker lives and is ready, and no reasons")
    func strangers() async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let file = try directory.write(Self.token, to: "token")
        let source = TestSource()
        source.state.withLock { $0.readiness.reasons = ["results_full"] }
        let tests = AdminTests()
        try await tests.withServer(source, on: "0.0.0.0", tokenFile: file) { address in
            let alive = try await tests.curl("\(address)/livez")
            #expect(alive.code == "200" && alive.body == "ok\n")
            source.state.withLock { $0.progress[0] = LaneProgress(lane: 0, sinceLastTurn: .seconds(46), step: "x") }
            let stuck = try await tests.curl("\(address)/livez")
            #expect(stuck.code == "503" && stuck.body == "stuck\n")
            let brief = try await tests.curl("\(address)/readyz")
            #expect(brief.code == "503" && brief.body == "{\"ready\":false}\n")
            let refused = try await tests.curl("-i", "\(address)/metrics")
            #expect(refused.code == "401" && refused.body.lowercased().contains("www-authenticate: bearer"))
            let header = "Authorization: Bearer \(Self.token)"
            #expect(try await tests.curl("-H", header, "\(address)/metrics").code == "200")
            #expect(try await tests.curl("-H", header, "\(address)/readyz").body.contains("results_full"))
            #expect(try await tests.curl("-H", header, "\(address)/livez").body == "lane 0 has not moved for 46s: x\n")
            #expect(try await tests.curl("-X", "POST", "\(address)/livez").code == "401")
            #expect(try await tests.curl("-X", "POST", "-H", header, "\(address)/livez").code == "404")
        }
    }
}

@Suite("What a connection to the admin server may take", .timeLimit(.minutes(2)))
struct AdminLimitTests {
    private func connect(_ address: String) throws -> Socket {
        let port = try #require(Int(address.split(separator: ":").last ?? ""))
        return try Socket.connect(to: .loopback(port: port), timeout: .seconds(10))
    }

    private func send(_ text: String, on socket: borrowing Socket) throws {
        let bytes = Array(text.utf8)
        #expect(try socket.write(bytes.span) == bytes.count)
    }

    /// Reads until the server closes the connection.
    private func readToEnd(_ socket: borrowing Socket) throws -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard try socket.wait(for: .readable, timeout: .seconds(30)) else { throw Unclosed() }
            do {
                guard case .bytes(let count) = try socket.read(into: &buffer) else { break }
                all += buffer[..<count]
            } catch {
                break
            }
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads the answer of a worker that lives.
    private func readAnswer(_ socket: borrowing Socket) throws {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.hasSuffix("ok\n") {
            guard try socket.wait(for: .readable, timeout: .seconds(30)) else { throw Unclosed() }
            guard case .bytes(let count) = try socket.read(into: &buffer) else { throw Unanswered() }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    private struct Unclosed: Error {}
    private struct Unanswered: Error {}

    @Test("a roster lets the longest silence go first, and an answer under way last")
    func roster() {
        var roster = ConnectionRoster<Int>(limit: 3)
        #expect([1, 2, 3].map { roster.add($0) } == [nil, nil, nil])
        roster.requestArrived(1)
        #expect(roster.add(4) == 2)
        roster.answered(1)
        #expect(roster.waiting == [3, 4, 1])
        for id in [3, 4, 1] { roster.requestArrived(id) }
        #expect(roster.add(5) == 3)
        #expect(roster.add(6) == 5)
        roster.remove(4)
        roster.remove(9)
        roster.requestArrived(9)
        roster.answered(9)
        #expect(roster.answering == [1] && roster.waiting == [6])
        #expect(roster.add(7) == nil)
    }

    @Test("a request that comes drop by drop is cut off")
    func slow() async throws {
        let tests = AdminTests()
        try await tests.withServer(TestSource(), requestLimit: .milliseconds(200)) { address in
            let silent = try connect(address)
            let slow = try connect(address)
            try send("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", on: slow)
            #expect(try readToEnd(slow) == "")
            #expect(try readToEnd(silent) == "")
            #expect(try await tests.curl("\(address)/livez").code == "200")
        }
    }

    @Test("a body without end is cut off, and so are headers without end")
    func endless() async throws {
        let tests = AdminTests()
        try await tests.withServer(TestSource()) { address in
            let body = try connect(address)
            try send("POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", on: body)
            let chunk = "400\r\n\(String(repeating: "x", count: 1024))\r\n"
            for _ in 0..<5 { try send(chunk, on: body) }
            #expect(try !readToEnd(body).contains(" 200 "))
            let announced = try connect(address)
            try send("POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", on: announced)
            try send(String(repeating: "x", count: AdminConnectionGuard.bodyLimit + 1), on: announced)
            #expect(try !readToEnd(announced).contains(" 200 "))
            let headers = try connect(address)
            try send("GET /livez HTTP/1.1\r\n", on: headers)
            for number in 0..<AdminServer.headerLimits.count + 1 { try send("X-\(number): y\r\n", on: headers) }
            #expect(try readToEnd(headers).hasPrefix("HTTP/1.1 400 "))
            let line = try connect(address)
            try send("GET /\(String(repeating: "a", count: AdminServer.headerLimits.list)) HTTP/1.1\r\n\r\n", on: line)
            #expect(try readToEnd(line).hasPrefix("HTTP/1.1 400 "))
            #expect(try await tests.curl("\(address)/livez").code == "200")
        }
    }

    @Test("bodies that end after their answer keep no connection busy")
    func lateBodies() async throws {
        let tests = AdminTests()
        try await tests.withServer(TestSource()) { address in
            let head = "GET /livez HTTP/1.1\r\nHost: localhost\r\n"
            let crowd = try Crowd(of: AdminServer.connectionLimit - 1) {
                let socket = try connect(address)
                try send("\(head)Content-Length: 1\r\n\r\n", on: socket)
                try readAnswer(socket)
                try send("x", on: socket)
                return socket
            }
            // One too many, for which one of the crowd goes and no probe.
            let probe = try connect(address)
            let another = try connect(address)
            try send("\(head)\r\n", on: another)
            try readAnswer(another)
            try send("\(head)\r\n", on: probe)
            try readAnswer(probe)
            try crowd.waitUntil(open: AdminServer.connectionLimit - 2)
        }
    }

    @Test("a thousand silent connections keep no probe out, and hold no more than the limit")
    func crowd() async throws {
        let tests = AdminTests()
        try await tests.withServer(TestSource()) { address in
            let crowd = try Crowd(of: 1000) { try connect(address) }
            for _ in 0..<5 { #expect(try await tests.curl("\(address)/livez").code == "200") }
            // Each probe came last, so what is left of the crowd is what fits beside it.
            try crowd.waitUntil(open: AdminServer.connectionLimit)
        }
    }
}

/// Many open sockets; noncopyable ones do not fit into an array.
private final class Crowd {
    private final class Member {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private let members: [Member]

    init(of count: Int, _ connect: () throws -> Socket) throws {
        members = try (0..<count).map { _ in Member(try connect()) }
    }

    /// Waits until the server has closed all but so many.
    func waitUntil(open limit: Int) throws {
        var open = members
        var buffer: [UInt8] = [0]
        while open.count > limit {
            open = try open.filter { member in
                guard try member.socket.wait(for: .readable, timeout: .milliseconds(1)) else { return true }
                return (try? member.socket.read(into: &buffer)) == .wouldBlock
            }
        }
    }
}
