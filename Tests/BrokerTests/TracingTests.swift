import Foundation
import LocalStack
import PushWorker
import RabbitMQ
import TestSupport
import Testing
import TraceExport

@Suite("Traces", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct TracingTests {
    /// A span as a collector that is not ours understood it.
    private struct Line: Decodable {
        var error: String?
        var trace, id, parent, state, name, message: String?
        var kind, start, end, status: Int?
        var attributes, resource: [String: String]?
    }

    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    /// Starts the collector of `Fixtures`, which checks spans against OpenTelemetry's own schema.
    private static func collector(_ port: Int, _ file: String) throws -> ChildProcess {
        let process = try ChildProcess.start(
            PythonEnvironment.interpreter, [try Fixtures.path("collector.py"), "\(port)", file],
            environment: PythonEnvironment.variables, output: .file(file + ".log"), error: .file(file + ".log"))
        try process.awaitListening(on: port)
        return process
    }

    private static func lines(_ file: String) throws -> [Line] {
        let text = FileManager.default.contents(atPath: file) ?? Data()
        return try text.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Line.self, from: $0) }
    }

    private static func job(flags: String = "01", _ body: String) -> TestJob {
        .enveloped(
            body,
            headers: [("traceparent", .text("00-\(trace)-\(parent)-\(flags)")), ("tracestate", .text("vendor=1"))])
    }

    @Test("Each notification with a trace has two spans, which a collector with OpenTelemetry's schema takes")
    func exported() async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-traces")
        let (port, file) = (try FreePort.next(), directory.file("spans"))
        let collector = try Self.collector(port, file)
        defer { collector.terminate(grace: .zero) }
        let stack = try await BrokerStack.start(
            "traced", settings: "tracing: { endpoint: \"http://127.0.0.1:\(port)/base/\", service_name: shop }")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let token = String(decoding: Tokens.good, as: UTF8.self)
        let many = (0..<10).map { "\"\(String(repeating: "a1b2c3d\($0)", count: 8))\"" }.joined(separator: ",")
        try client.publish(
            Self.job(#"{"device_token":"\#(token)","payload":{"aps":{"alert":"SECRET"}}}"#), as: "one")
        try client.publish(Self.job(#"{"device_tokens":[\#(many)],"payload":{"aps":{}}}"#), as: "many")
        try client.publish(Self.job(#"{"device_token":"zz","payload":{"aps":{}}}"#), as: "bad")
        try client.publish(
            Self.job(flags: "00", #"{"device_token":"\#(token)","payload":{"aps":{}}}"#), as: "unsampled")
        try client.publishGoodJob(as: "untraced")
        for name in ["one", "bad", "unsampled", "untraced"] { _ = try client.result(name) }
        for _ in 0..<10 { _ = try client.result("many") }
        // A worker that ends gives its exporter two seconds.
        _ = try stack.readiness(of: worker) { _ in worker.worker.spanCounts()?.exported == 23 }
        try await worker.stop()

        let lines = try Self.lines(file)
        #expect(lines.compactMap(\.error) == [])
        #expect(lines.allSatisfy { $0.trace == Self.trace && $0.state == "vendor=1" })
        #expect(
            lines.allSatisfy {
                $0.resource?["service.name"] == "shop" && $0.resource?["service.instance.id"] == "ring"
            })
        let attempts = lines.filter { $0.name == "process apns.q.jobs.app" }
        let requests = lines.filter { $0.name == "apns push" }
        #expect(attempts.count == 12 && requests.count == 11 && lines.count == 23)
        #expect(attempts.allSatisfy { $0.parent == Self.parent && $0.kind == 5 })
        #expect(Set(lines.compactMap(\.id)).count == 23)
        for request in requests {
            let attempt = try #require(attempts.first { $0.id == request.parent })
            #expect(try #require(attempt.start) <= #require(request.start))
            #expect(try #require(request.end) <= #require(attempt.end))
            #expect(request.kind == 3 && request.attributes?["http.response.status_code"] == "200")
        }
        let bad = try #require(attempts.first { $0.attributes?["messaging.message.id"] == "bad" })
        #expect(bad.status == 2 && bad.attributes?["martlet.outcome"] == "invalid")
        let indexes = attempts.compactMap { $0.attributes?["martlet.index"] }
        #expect(indexes.sorted() == (0..<10).map { "\($0)" })
        let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        #expect(!text.contains("a1b2c3d") && !text.contains("SECRET"))
        let counts = try #require(worker.worker.spanCounts())
        #expect(counts.exported == 23)
    }

    @Test("A collector that is away costs no push and no result, and what it misses is counted")
    func away() async throws {
        let stack = try await BrokerStack.start(
            "untraceable", settings: "tracing: { endpoint: \"http://127.0.0.1:\(try FreePort.next())\" }")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let token = String(decoding: Tokens.good, as: UTF8.self)
        for number in 0..<20 {
            try client.publish(Self.job(#"{"device_token":"\#(token)","payload":{"aps":{}}}"#), as: "job \(number)")
            #expect(try client.result("job \(number)").result.outcome == "accepted")
        }
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
        let counts = try #require(worker.worker.spanCounts())
        #expect(counts.exported == 0 && counts[.unreachable] == 40)
    }
}
