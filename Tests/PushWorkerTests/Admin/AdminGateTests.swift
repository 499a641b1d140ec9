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
        var here: AdminGate.Admission
        var elsewhere: AdminGate.Admission
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
    func admissions(_ row: Row) throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let file = try directory.write("\(Self.token)\n", to: "token")
        for (isLoopback, expected) in [(true, row.here), (false, row.elsewhere)] {
            let gate = AdminGate(isLoopback: isLoopback, tokenFile: file)
            #expect(
                gate.admission(
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
        let admission = here.admission(isReading: true, path: "/metrics", host: host, authorization: nil)
        #expect(admission == (isAnswered ? .open : .misdirected))
        // Elsewhere names are as good as addresses, and the token decides.
        let elsewhere = AdminGate(isLoopback: false, tokenFile: nil)
        #expect(elsewhere.admission(isReading: true, path: "/livez", host: host, authorization: nil) == .brief)
    }

    @Test("without a usable token file nothing can be changed and no token is right")
    func noToken() throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let none = AdminGate(isLoopback: true, tokenFile: nil)
        #expect(none.admission(isReading: false, path: "/", host: nil, authorization: nil) == .forbidden)
        #expect(none.admission(isReading: false, path: "/", host: nil, authorization: "Bearer ") == .forbidden)
        for text in ["short", "\n", ""] {
            let gate = AdminGate(isLoopback: true, tokenFile: try directory.write(text, to: "token"))
            let admission = gate.admission(isReading: false, path: "/", host: nil, authorization: "Bearer \(text)")
            #expect(admission == .unauthorized)
        }
        let missing = AdminGate(isLoopback: true, tokenFile: "/nowhere/token")
        #expect(missing.admission(isReading: false, path: "/", host: nil, authorization: "Bearer x") == .unauthorized)
    }

    @Test("a changed token holds from the next request on")
    func rotates() throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let gate = AdminGate(isLoopback: false, tokenFile: try directory.write(Self.token, to: "token"))
        try directory.write("another-token-of-a-day", to: "token")
        for (token, expected) in [(Self.token, AdminGate.Admission.unauthorized), ("another-token-of-a-day", .open)] {
            let admission = gate.admission(
                isReading: true, path: "/metrics", host: nil, authorization: "Bearer \(token)")
            #expect(admission == expected)
        }
    }

    @Test("a pipe in the place of the token's file is refused and not waited for")
    func pipe() throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let pipe = directory.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let gate = AdminGate(isLoopback: true, tokenFile: pipe)
        #expect(gate.admission(isReading: false, path: "/", host: nil, authorization: "Bearer x") == .unauthorized)
    }

    @Test("strangers at a reachable address learn whether the worker lives and is ready, and no reasons")
    func strangers() async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-token")
        defer { directory.remove() }
        let file = try directory.write(Self.token, to: "token")
        let source = TestSource()
        source.state.withLock { $0.readiness.reasons = ["results_full"] }
        let tests = AdminServerTests()
        try await tests.withServer(source, on: "0.0.0.0", tokenFile: file) { address in
            let alive = try await tests.curl("\(address)/livez")
            #expect(alive.code == "200" && alive.body == "ok\n")
            source.state.withLock { $0.progress = LaneProgress(sinceLastTurn: .seconds(46), step: "x") }
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
