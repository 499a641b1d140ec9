import EventLoop
import Foundation
import LocalStack
import Logging
import PushWorker
import RabbitMQ
import TestSupport
import Testing
import WorkerSettings

@Suite("The dashboard for Grafana", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct DashboardTests {
    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable {
                var expr: String
            }

            var title: String
            var description: String?
            var targets: [Target]?
        }

        var panels: [Panel]
    }

    private struct Answer: Decodable {
        struct Content: Decodable {
            struct Series: Decodable {
                /// A time, and the value as text.
                var value: [Value]
            }

            var result: [Series]
        }

        enum Value: Decodable {
            case time(Double), text(String)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let time = try? container.decode(Double.self) {
                    self = .time(time)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }

        var status: String
        var data: Content?

        /// Whether there is a number.
        var hasData: Bool {
            data?.result.contains { series in
                series.value.contains { if case .text(let text) = $0 { text != "NaN" } else { false } }
            } == true
        }
    }

    /// A Prometheus that scrapes one worker each second.
    private struct Prometheus {
        let port: Int
        private let process: ChildProcess
        private let directory: TemporaryDirectory

        init(scraping worker: Int) throws {
            directory = try TemporaryDirectory(prefix: "martlet-prometheus")
            port = try FreePort.next()
            let configuration = try directory.write(
                """
                global: { scrape_interval: 1s }
                scrape_configs:
                  - job_name: martlet
                    static_configs: [{ targets: ["127.0.0.1:\(worker)"] }]

                """, to: "prometheus.yml")
            let log = ChildProcess.Stream.file(directory.file("log"))
            process = try ChildProcess.start(
                "prometheus",
                [
                    "--config.file=\(configuration)", "--storage.tsdb.path=\(directory.file("data"))",
                    "--web.listen-address=127.0.0.1:\(port)",
                ], output: log, error: log)
        }

        func stop() { process.terminate(grace: .seconds(5)) }

        /// Evaluates an expression now.
        ///
        /// - Returns: Nil while Prometheus does not answer.
        func answer(_ expression: String) throws -> Answer? {
            let address = "http://127.0.0.1:\(port)/api/v1/query"
            let text = try ChildProcess.run("curl", ["-sS", address, "--data-urlencode", "query=\(expression)"]).text
            return try? JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        }
    }

    private static func panels() throws -> [Dashboard.Panel] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../config/grafana/martlet.json").standardized
        return try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: file)).panels
    }

    @Test("Each panel says what it shows, and asks for nothing but metrics that workers have")
    func words() throws {
        let panels = try Self.panels().filter { $0.targets != nil }
        #expect(panels.count > 20 && panels.allSatisfy { $0.description?.hasSuffix(".") == true })
    }

    @Test("Each expression of each panel has data when a real Prometheus scrapes a worker that works")
    func data() async throws {
        let apple = try AppleStyleCertificates()
        let files = try apple.issue("push")
        let stack = try await BrokerStack.start(
            "dashboard",
            credentials: """
                  - { name: push, kind: certificate, cert_file: "\(files.certificateFile)", key_file: "\(files.keyFile)" }
                """, sendsDate: true)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let worker = try LiveWorker(stack.configuration) { worker in
            [
                AdminServer(
                    listen: ListenAddress(host: "127.0.0.1", port: 0), source: worker,
                    metrics: WorkerMetrics(
                        build: [("version", "test")],
                        tiers: ["2s", "4s"]),
                    heartbeat: .seconds(15), logger: Logger(label: "ring") { _ in SwiftLogNoOpLogHandler() },
                    started: { listening.yield($0) })
            ]
        }
        var iterator = ports.makeAsyncIterator()
        let prometheus = try Prometheus(scraping: try #require(await iterator.next()))
        defer { prometheus.stop() }
        let client = try JobClient(stack)
        defer { client.close() }

        var missing = try Self.panels().flatMap { panel in (panel.targets ?? []).map { (panel.title, $0.expr) } }
        #expect(missing.count > 30)
        let deadline = ContinuousClock.now.advanced(by: .seconds(90))
        repeat {
            // Rates and shares need something that goes on.
            let enqueuedAt = FieldValue.integer(WallClock.milliseconds())
            try client.publish(
                .raw(token: .text(Tokens.good), headers: [("x-apns-enqueued-at", enqueuedAt)]), as: "good")
            try client.publish(.raw(token: nil), as: "bad")
            // Answered 503 once, and then accepted: the simulator knows the beginning of the device token.
            let unwilling = "fa111503" + String(repeating: "c", count: 56)
            try client.publish(.raw(token: .text(unwilling)), as: "unwilling")
            _ = try (client.result("good"), client.result("bad"))
            missing = try missing.filter { _, expression in
                var expression = expression.replacing("$__rate_interval", with: "10s")
                for name in ["$job", "$instance", "$route"] { expression = expression.replacing(name, with: ".*") }
                guard let answer = try prometheus.answer(expression) else { return true }
                #expect(answer.status == "success", "\(expression)")
                return !answer.hasData
            }
        } while !missing.isEmpty && ContinuousClock.now < deadline
        #expect(missing.isEmpty, "no data: \(missing)")
        try await worker.stop()
    }
}
