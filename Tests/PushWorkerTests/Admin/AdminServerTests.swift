import Foundation
import Logging
import Synchronization
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("Admin server", .timeLimit(.minutes(1)))
struct AdminServerTests {
    /// Runs a server on a free port for the time of a test.
    func withServer(
        _ source: TestSource, on host: String = "127.0.0.1", tokenFile: String? = nil,
        requestLimit: Duration = .seconds(30), _ body: (String) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = AdminServer(
            listen: ListenAddress(host: host, port: 0), source: source, metrics: sampleMetrics(),
            heartbeat: .seconds(15), tokenFile: tokenFile, requestLimit: requestLimit,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            started: { port.yield($0) })
        let running = Task { try await server.run() }
        for await port in ports {
            try await body("http://127.0.0.1:\(port)")
            break
        }
        running.cancel()
        _ = await running.result
    }

    func curl(_ arguments: String...) async throws -> (code: String, body: String) {
        let (status, output) = try await run("/usr/bin/curl", ["-s", "-w", "\n%{http_code}"] + arguments)
        #expect(status == 0)
        let cut = output.lastIndex(of: "\n") ?? output.startIndex
        return (String(output[output.index(after: cut)...]), String(output[..<cut]))
    }

    @Test("livez is about a lane that moves and about nothing else")
    func livez() async throws {
        let source = TestSource()
        source.state.withLock { $0.readiness.reasons = ["broker_down"] }
        try await withServer(source) { address in
            let good = try await curl("\(address)/livez")
            #expect(good.code == "200")
            #expect(good.body == "ok\n")
            source.state.withLock { $0.progress = LaneProgress(sinceLastTurn: .seconds(46)) }
            let stuck = try await curl("\(address)/livez")
            #expect(stuck.code == "503")
            #expect(stuck.body == "lane 0 has not moved for 46s\n")
            source.state.withLock {
                $0.progress = LaneProgress(
                    sinceLastTurn: .seconds(11), isStuck: true, step: "publishing to the broker")
            }
            let found = try await curl("\(address)/livez")
            #expect(found.code == "503")
            #expect(found.body == "lane 0 has not moved for 11s: publishing to the broker\n")
        }
    }

    @Test("readyz says in JSON whether the worker is ready, and if not, why")
    func readyz() async throws {
        let source = TestSource()
        try await withServer(source) { address in
            let ready = try await curl("\(address)/readyz")
            #expect(ready.code == "200")
            #expect(ready.body == #"{"instance":"w1","lanes":[],"ready":true,"reasons":[],"routes":[]}"# + "\n")
            source.state.withLock {
                $0.readiness = WorkerReadiness(
                    instance: "w1", reasons: ["results_full"],
                    lane: .init(consume: "up", publish: "blocked", detail: "memory alarm"),
                    routes: [
                        .init(
                            name: "shop", state: "parked", reason: "InvalidProviderToken", connections: 0,
                            limitedBy: "apns")
                    ])
            }
            let parked = try await curl("\(address)/readyz")
            #expect(parked.code == "503")
            #expect(
                parked.body
                    == #"{"instance":"w1","lanes":[{"consume":"up","detail":"memory alarm","lane":0,"publish":"blocked"}],"#
                    + #""ready":false,"reasons":["results_full"],"routes":[{"connections":0,"limited_by":"apns","name":"shop","#
                    + #""reason":"InvalidProviderToken","state":"parked"}]}"# + "\n")
        }
    }

    @Test("metrics come as Prometheus text that promtool accepts")
    func metrics() async throws {
        try await withServer(TestSource()) { address in
            let answer = try await curl("-i", "\(address)/metrics")
            #expect(answer.code == "200")
            #expect(answer.body.lowercased().contains("content-type: text/plain; version=0.0.4; charset=utf-8"))
            #expect(answer.body.contains("\nmartlet_log_lines_dropped_total 3\n"))
            let text = try await curl("\(address)/metrics").body
            let (status, output) = try await run(
                "/usr/bin/promtool", ["check", "metrics"], input: Array("\(text)\n".utf8))
            #expect(status == 0, "\(output)")
        }
    }

    @Test("HEAD is answered like GET, without the body", arguments: ["livez", "readyz", "metrics"])
    func head(_ path: String) async throws {
        try await withServer(TestSource()) { address in
            let (head, whole) = (try await curl("-I", "\(address)/\(path)"), try await curl("\(address)/\(path)"))
            #expect(head.code == whole.code)
            let lines = head.body.lowercased().split(separator: "\r\n")
            #expect(lines.allSatisfy { $0.hasPrefix("http/1.1 ") || $0.contains(": ") }, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("content-type: ") })
        }
    }

    @Test("what asks for the name of somebody else is told so")
    func misdirected() async throws {
        try await withServer(TestSource()) { address in
            let answer = try await curl("-H", "Host: evil.example", "\(address)/metrics")
            #expect(answer.code == "421")
            #expect(answer.body == "a server of this machine alone: ask for localhost or an IP address\n")
        }
    }

    @Test("anything else is refused: other paths, other methods, huge headers")
    func refusals() async throws {
        try await withServer(TestSource()) { address in
            let huge = "x: \(String(repeating: "a", count: 20_000))"
            let codes = [
                try await curl("\(address)/").code, try await curl("\(address)/livez/x").code,
                try await curl("-X", "POST", "-d", "x", "\(address)/livez").code,
                try await curl("-H", huge, "\(address)/livez").code, try await curl("\(address)/livez").code,
            ]
            #expect(codes == ["404", "404", "403", "400", "200"])
        }
    }

    @Test("an address that is taken ends the server with an error that names the setting, the place and the remedy")
    func taken() async throws {
        let source = TestSource()
        try await withServer(source) { address in
            let text = try #require(address.split(separator: ":").last)
            let port = try #require(Int(text))
            let second = AdminServer(
                listen: ListenAddress(host: "127.0.0.1", port: port), source: source, metrics: sampleMetrics(),
                heartbeat: .seconds(15), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let error = await #expect(throws: WorkerError.self) { try await second.run() }
            let begin = "admin.listen: cannot listen on 127.0.0.1:\(port): Address already in use: "
            #expect(error?.message.hasPrefix(begin) == true, "\(String(describing: error))")
            #expect(error?.message.contains("127.0.0.1:0 for any free port") == true)
        }
    }

    @Test("a server whose listening socket fails listens again, and answers there")
    func listensAgain() async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = AdminServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), source: TestSource(), metrics: sampleMetrics(),
            heartbeat: .seconds(15), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            started: { port.yield($0) })
        let running = Task { try await server.run() }
        var heard = ports.makeAsyncIterator()
        let first = try #require(await heard.next())
        // What accepting on it says from now on is an error, as it is without a descriptor left.
        shutdown(try #require(Self.listener(on: first)), Int32(SHUT_RDWR))
        let second = try #require(await heard.next())
        #expect(try await curl("http://127.0.0.1:\(second)/livez").body == "ok\n")
        running.cancel()
        _ = await running.result
    }

    /// This process's descriptor that listens on a port.
    static func listener(on port: Int) -> Int32? {
        (0..<Int32(getdtablesize())).first { descriptor in
            var (isListening, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1 else {
                return false
            }
            var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let found = withUnsafeMutableBytes(of: &address) {
                getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            return found == 0 && Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }
}
