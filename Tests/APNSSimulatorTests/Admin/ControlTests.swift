import Foundation
import HTTP2
import TLS
import TestSupport
import Testing

@testable import APNSSimulator

@Suite("The admin API changes a running simulator", .timeLimit(.minutes(1)))
struct ControlTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func ask(
        _ simulator: RunningSimulator, _ method: String, _ path: String, _ body: String = "", headers: [String] = []
    ) async throws -> (status: Int, body: String) {
        let port = try #require(simulator.adminPort)
        let result = try await SimulatorBench.run(
            Program.curl,
            [
                "--silent", "--request", method, "--data-binary", body, "--write-out", "\n%{http_code}",
                "http://127.0.0.1:\(port)\(path)",
            ] + headers.flatMap { ["--header", $0] })
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    private func withAdmin(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        try await SimulatorBench.with(
            {
                $0.adminPort = 0
                change(&$0)
            }, body)
    }

    @Test("The clock goes forward, so that a token expires in a moment")
    func clock() async throws {
        try await withAdmin { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(
                try await ask(simulator, "POST", "/clock", #"{"advance":"61m"}"#).body.contains(#""advance":3660000"#))
            #expect(try client.exchange(try SimulatorBench.push(maker)).reason == "ExpiredProviderToken")
            #expect(try await ask(simulator, "GET", "/clock").body.contains(#""advance":3660000"#))
            for bad in [#"{"advance":"soon"}"#, "{}", "", #"{"reset":false}"#, #"{"advance":"1s","reset":true}"#] {
                #expect(try await ask(simulator, "POST", "/clock", bad).status == 400)
            }
            let back = try await ask(simulator, "POST", "/clock", #"{"advance":"-1s"}"#)
            #expect(back.status == 400 && back.body.contains("goes forward only"))
            #expect(try await ask(simulator, "POST", "/clock", #"{"reset":true}"#).body.contains(#""advance":0"#))
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
        }
    }

    @Test("A page of another site can read and change nothing")
    func otherSites() async throws {
        try await withAdmin { simulator in
            let port = try #require(simulator.adminPort)
            let changes = ["/reset", "/scenario", "/shutdown", "/certificates", "/clock", "/server-certificate"]
            let requests =
                ["/", "/ledger", "/counts", "/connections", "/devices"].map { ("GET", $0) }
                + changes.map { ("POST", $0) } + [("DELETE", "/shutdown")]
            for (method, path) in requests {
                let body = path == "/certificates" ? #"{"topics":["com.example.app"]}"# : "{}"
                // With an empty value curl sends no such header.
                for host in ["Host: evil.example", "Host: localhost.evil.example:\(port)", "Host:"] {
                    let answer = try await ask(simulator, method, path, body, headers: [host])
                    // Without any host the server itself may refuse.
                    #expect([421, 400].contains(answer.status), "\(method) \(path) \(host): \(answer)")
                    #expect(!answer.body.contains("PRIVATE KEY"))
                }
                for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
                    let headers = ["Content-Type: text/plain", "Origin: \(origin)"]
                    let answer = try await ask(simulator, method, path, body, headers: headers)
                    #expect(answer.status == 403 && !answer.body.contains("PRIVATE KEY"), "\(method) \(path) \(origin)")
                }
            }
            let own = ["Host: localhost:\(port)", "Origin: http://localhost:\(port)"]
            #expect(try await ask(simulator, "POST", "/reset", headers: own).status == 200)
            #expect(try await ask(simulator, "GET", "/counts", headers: ["Host: 192.0.2.1"]).status == 200)
        }
    }

    @Test("The page lists the requests that the admin API knows, and no other")
    func page() async throws {
        try await withAdmin { simulator in
            let body = try await ask(simulator, "GET", "/nowhere").body
            let list = try #require(body.components(separatedBy: "it has ").last?.components(separatedBy: "\"").first)
            // The page writes parameters in capitals, and arguments behind a question mark.
            let known = list.components(separatedBy: ", ").map { request in
                request.replacing(/[:{]([a-z]+)\}?/) { $0.output.1.uppercased() }
            }
            let listed = try Page(documentation: "Simulator").rows("request", in: "Admin port")
                .flatMap { Page.quoted($0[0]) }.map { String($0.prefix { $0 != "?" }) }
            #expect(known.count > 15)
            #expect(listed.sorted() == known.sorted())
        }
    }

    @Test("What the admin API does not know is answered in JSON that says what it knows")
    func unknown() async throws {
        try await withAdmin { simulator in
            let missing = try await ask(simulator, "GET", "/count")
            #expect(missing.status == 404)
            let told = try JSONDecoder().decode([String: String].self, from: Data(missing.body.utf8))
            #expect(told["error"]?.contains("has no /count; it has DELETE /shutdown, GET /, GET /clock") == true)
            let wrong = try await ask(simulator, "GET", "/keys/ABC1234567/revoke")
            #expect(wrong.status == 405)
            #expect(wrong.body == #"{"error":"/keys/ABC1234567/revoke takes POST, and not GET"}"# + "\n")
            #expect(try await ask(simulator, "DELETE", "/clock").body.contains("takes GET, POST"))
        }
    }

    @Test("Keys and certificates are revoked and restored")
    func revocation() async throws {
        try await withAdmin { simulator in
            let client = try RawClient(simulator)
            #expect(try await ask(simulator, "POST", "/keys/ABC1234567/revoke").status == 200)
            #expect(try client.exchange(try SimulatorBench.push(maker)).reason == "InvalidProviderToken")
            #expect(try await ask(simulator, "POST", "/keys/ABC1234567/restore").status == 200)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(try await ask(simulator, "POST", "/certificates/xyz/revoke").status == 400)
            #expect(
                try await ask(simulator, "POST", "/keys/ABC1234567/revoke", #"{"after":"10m"}"#).status == 200)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            simulator.control.advanceClock(milliseconds: 600_000)
            #expect(try client.exchange(try SimulatorBench.push(maker)).reason == "InvalidProviderToken")
            let mistake = try await ask(simulator, "POST", "/keys/ABC1234567/revoke", #"{"after":"soon"}"#)
            #expect(mistake.status == 400 && mistake.body.contains("after"))
        }
        let keys = [ProviderKey(keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey)]
        try await withAdmin({ $0.keys = keys }) { simulator in
            let answer = try await ask(simulator, "POST", "/keys/UNKNOWN000/revoke")
            #expect(answer.status == 404)
        }
    }

    @Test("A certificate is issued, serves, and is revoked by its serial number")
    func certificates() async throws {
        try await withAdmin { simulator in
            let answer = try await ask(
                simulator, "POST", "/certificates",
                #"{"topics":["com.example.app"],"environments":["development"],"days":3}"#)
            #expect(answer.status == 201)
            let fields = try JSONDecoder().decode([String: String].self, from: Data(answer.body.utf8))
            let issued = ProviderCertificate(
                certificatePEM: Array(try #require(fields["certificate"]).utf8),
                keyPEM: Array(try #require(fields["key"]).utf8), serialNumber: try #require(fields["serial"]))
            let client = try RawClient(simulator, certificate: issued)
            let push = RequestBuilder().with("authorization", nil).with("apns-topic", nil)
            #expect(try client.exchange(push).status == 200)
            #expect(try await ask(simulator, "POST", "/certificates/\(issued.serialNumber)/revoke").status == 200)
            #expect(try client.exchange(push).reason == "BadCertificate")
            for bad in [
                #"{"topics":[]}"#, #"{"topics":["a b"]}"#, #"{"topics":["a.b"],"environments":["moon"]}"#,
                #"{"topics":["a.b"],"starts_in":"x"}"#, #"{"topics":["a.b"],"days":-1}"#, "[]",
            ] {
                #expect(try await ask(simulator, "POST", "/certificates", bad).status == 400, "\(bad)")
            }
        }
    }

    @Test("Server certificate, scenario and shutdown are switched")
    func switches() async throws {
        try await withAdmin { simulator in
            let client = try RawClient(simulator)
            #expect(try await ask(simulator, "POST", "/server-certificate", #"{"kind":"expired"}"#).status == 200)
            #expect(throws: TLSError.self) { _ = try RawClient(simulator) }
            #expect(try await ask(simulator, "POST", "/server-certificate", #"{"kind":"good"}"#).status == 200)
            #expect(try await ask(simulator, "POST", "/server-certificate", #"{"kind":"odd"}"#).status == 400)
            let scenario = "rules: [{ verdict: { reason: Unregistered } }]"
            #expect(try await ask(simulator, "POST", "/scenario", scenario).status == 200)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 410)
            let mistake = try await ask(simulator, "POST", "/scenario", "speed: 1")
            #expect(mistake.status == 400 && mistake.body.contains("scenario:1:1: unknown key speed"))
            #expect(try await ask(simulator, "POST", "/shutdown").status == 200)
            try client.waitForEnd()
            #expect(client.goAways.count == 1)
            #expect(try await ask(simulator, "DELETE", "/shutdown").status == 200)
            #expect(try RawClient(simulator).exchange(try SimulatorBench.push(maker)).status == 410)
        }
    }

    @Test("Before the end clients are told; a client that still opens a stream gets Shutdown, and then the goodbye")
    func end() async throws {
        let scenario = try Scenario(yaml: "rules: [{ verdict: { delay: 900ms } }]", name: "slow")
        try await SimulatorBench.with({
            $0.streams = .fixed(100)
            $0.scenario = scenario
        }) { simulator in
            let client = try RawClient(simulator)
            let slow = try client.send(try SimulatorBench.push(maker))
            try await waitFor { simulator.ledger.total == 1 }
            async let drained: Void = simulator.drain()
            // The announcement has come, and is not read yet.
            #expect(try !client.staysSilent(milliseconds: 10_000))
            let late = try client.send(try SimulatorBench.push(maker))
            try client.waitForEnd()
            #expect(client.answers[slow]?.status == 200)
            #expect(client.answers[late]?.status == 503 && client.answers[late]?.reason == "Shutdown")
            #expect(client.goAways.map(\.lastStreamID) == [.max, 3])
            #expect(client.goAways.last?.debugData == Refusal.shutdown.body)
            await drained
            #expect(simulator.counters.connectionsOpen == 0)
        }
    }
}
