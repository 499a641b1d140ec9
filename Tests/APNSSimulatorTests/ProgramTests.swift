import EventLoop
import Foundation
import TLS
import Testing

@testable import APNSSimulator

/// Programs that know nothing of this project, against the simulator.
@Suite("Other people's programs", .timeLimit(.minutes(2)))
struct ProgramTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func curl(_ simulator: RunningSimulator, token: String, _ headers: [String]) async throws -> [String] {
        let arguments =
            ["--http2", "--silent", "--cacert", simulator.authorityFile, "--max-time", "20", "--include"]
            + headers.flatMap { ["--header", $0] }
            + ["--data", #"{"aps":{"alert":"hello"}}"#, "https://localhost:\(simulator.port)/3/device/\(token)"]
        let output = try await SimulatorBench.run(Program.curl, arguments).output
        return output.split(whereSeparator: \.isNewline).map(String.init)
    }

    @Test("curl pushes with a provider token, and is refused without")
    func curlPushes() async throws {
        try await SimulatorBench.with({
            $0.acceptsAnyKey = false
            $0.keys = [ProviderKey(keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey)]
        }) { simulator in
            let bearer = try maker.bearer(issuedAt: WallClock.milliseconds() / 1000)
            let headers = ["authorization: \(bearer)", "apns-topic: com.example.app", "apns-push-type: alert"]
            let good = try await curl(simulator, token: RequestBuilder.token, headers)
            #expect(good.first?.hasPrefix("HTTP/2 200") == true)
            #expect(good.contains { $0.hasPrefix("apns-id: ") })
            let gone = try await curl(simulator, token: Tokens.beginning("dead0410"), headers)
            #expect(gone.first?.hasPrefix("HTTP/2 410") == true)
            #expect(gone.last?.hasPrefix(#"{"reason":"Unregistered","timestamp":"#) == true)
            let refused = try await curl(simulator, token: RequestBuilder.token, ["apns-topic: com.example.app"])
            #expect(refused.last == #"{"reason":"MissingProviderToken"}"#)
        }
    }

    @Test("curl pushes with a provider certificate, without a token and without a topic")
    func curlCertificate() async throws {
        try await SimulatorBench.with({ $0.acceptsAnyKey = false }) { simulator in
            let issued = try simulator.control.issue(ProviderCertificateRequest(topics: ["com.example.app"]))
            let file = String(simulator.authorityFile.dropLast("ca.pem".count)) + "push.pem"
            try Data(issued.certificatePEM + issued.keyPEM).write(to: URL(filePath: file))
            let answer = try await SimulatorBench.run(
                Program.curl,
                [
                    "--http2", "--silent", "--cacert", simulator.authorityFile, "--cert", file, "--include", "--data",
                    #"{"aps":{"alert":"hello"}}"#,
                    "https://localhost:\(simulator.port)/3/device/\(RequestBuilder.token)",
                ])
            #expect(answer.output.hasPrefix("HTTP/2 200"))
            #expect(simulator.ledger.records().map(\.topic) == ["com.example.app"])
        }
    }

    @Test("curl refuses a server it is not told to trust")
    func untrusted() async throws {
        try await SimulatorBench.with { simulator in
            let url = "https://localhost:\(simulator.port)/3/device/\(RequestBuilder.token)"
            #expect(try await SimulatorBench.run(Program.curl, ["--http2", "--silent", url]).status == 60)
            let address = "https://127.0.0.1:\(simulator.port)/3/device/\(RequestBuilder.token)"
            let trusted = try await SimulatorBench.run(
                Program.curl, ["--http2", "--silent", "--cacert", simulator.authorityFile, address])
            #expect(trusted.status == 0)
        }
    }

    @Test(
        "h2load gets ten thousand answers from the thin mode",
        arguments: [1, 2])
    func thinMode(_ threads: Int) async throws {
        try await SimulatorBench.with({
            $0.acceptsAll = true
            $0.threads = threads
        }) { simulator in
            let body = try Self.bodyFile()
            let result = try await SimulatorBench.run(
                Program.h2load,
                ["-n", "10000", "-c", "4", "-m", "100", "-d", body, "https://127.0.0.1:\(simulator.port)/3/device/ab"])
            #expect(result.output.contains("10000 succeeded, 0 failed, 0 errored"))
            #expect(simulator.counters.acceptedWithoutLooking == 10_000)
            #expect(simulator.counters.bytesWithoutLooking == 280 * 10_000)
        }
    }

    @Test(
        "h2load gets ten thousand judged answers, and the ledger has them all")
    func judged() async throws {
        try await SimulatorBench.with({ $0.adminPort = 0 }) { simulator in
            let body = try Self.bodyFile()
            let bearer = try maker.bearer(issuedAt: WallClock.milliseconds() / 1000)
            let result = try await SimulatorBench.run(
                Program.h2load,
                [
                    "-n", "10000", "-c", "2", "-m", "1", "-d", body, "-H", "authorization: \(bearer)", "-H",
                    "apns-topic: com.example.app",
                    "https://127.0.0.1:\(simulator.port)/3/device/\(RequestBuilder.token)",
                ])
            #expect(result.output.contains("10000 succeeded, 0 failed, 0 errored"))
            #expect(simulator.ledger.counts == [Ledger.Count(status: 200, label: "", count: 10_000)])
            let port = try #require(simulator.adminPort)
            let ledger = try await SimulatorBench.run(
                Program.curl, ["--silent", "http://127.0.0.1:\(port)/ledger?format=compact"])
            let lines = ledger.output.split(separator: "\n")
            #expect(lines.count == 10_000)
            #expect(Set(lines.map { $0.prefix(36) }).count == 10_000)
            #expect(lines.allSatisfy { $0.hasSuffix(" \(RequestBuilder.token) 200") })
        }
    }

    /// Twenty clients push at once and send on until their connection ends. h2load opens no other connection after a
    /// GOAWAY.
    @Test("h2load sees the answer of every push that was accepted before its connection was sent away")
    func goAway() async throws {
        let scenario = try Scenario(
            yaml: "connections:\n  - goaway: { after_pushes: 200, reason: Shutdown, twice: true }", name: "s")
        try await SimulatorBench.with({ $0.scenario = scenario }) { simulator in
            let body = try Self.bodyFile()
            let bearer = try maker.bearer(issuedAt: WallClock.milliseconds() / 1000)
            let result = try await SimulatorBench.run(
                Program.h2load,
                [
                    "-n", "10000", "-c", "20", "-m", "100", "-d", body, "-H", "authorization: \(bearer)", "-H",
                    "apns-topic: com.example.app",
                    "https://127.0.0.1:\(simulator.port)/3/device/\(RequestBuilder.token)",
                ])
            let accepted = simulator.ledger.total
            #expect(accepted >= 20 * 200 && accepted < 10_000)
            #expect(simulator.ledger.counts == [Ledger.Count(status: 200, label: "", count: accepted)])
            #expect(result.output.contains("status codes: \(accepted) 2xx, 0 3xx, 0 4xx, 0 5xx"), "\(result.output)")
        }
    }

    @Test("The admin API tells what was pushed, and forgets")
    func admin() async throws {
        try await SimulatorBench.with({ $0.adminPort = 0 }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(
                try client.exchange(try SimulatorBench.push(maker).token(Tokens.beginning("dead0410"))).status == 410)
            let port = try #require(simulator.adminPort)
            func get(_ path: String, _ more: [String] = []) async throws -> String {
                try await SimulatorBench.run(Program.curl, ["--silent"] + more + ["http://127.0.0.1:\(port)\(path)"])
                    .output
            }
            let all = try await get("/ledger").split(separator: "\n")
            #expect(all.count == 2)
            let one = try await get("/ledger?token=\(Tokens.beginning("dead0410"))").split(separator: "\n")
            #expect(one.count == 1)
            #expect(one.first?.contains(#""status":410,"reason":"Unregistered""#) == true)
            #expect(try await get("/ledger?token=00") == "")
            let counts = try await get("/counts")
            #expect(counts.hasPrefix(#"{"total":2,"unlisted":0,"#))
            #expect(counts.contains(#"{"status":410,"reason":"Unregistered","count":1}"#))
            #expect(try await get("/reset", ["--request", "POST"]).contains("true"))
            #expect(try await get("/counts").hasPrefix(#"{"total":0,"#))
            #expect(try await get("/ledger") == "")
        }
    }

    @Test("A taken port is told, and nothing is left behind")
    func takenPort() async throws {
        try await SimulatorBench.with { first in
            let error = await #expect(throws: SimulatorError.self) {
                try await SimulatorBench.with({ $0.port = first.port }) { _ in }
            }
            #expect(error?.code == .network)
        }
    }

    @Test("A taken admin port stops the start")
    func takenAdminPort() async throws {
        try await SimulatorBench.with { first in
            let error = await #expect(throws: SimulatorError.self) {
                try await SimulatorBench.with({ $0.adminPort = first.port }) { _ in }
            }
            #expect(error?.code == .network)
        }
    }

    private static func bodyFile() throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID().uuidString)")
        try Data(payload(bytes: 280).utf8).write(to: file)
        return file.path
    }
}
