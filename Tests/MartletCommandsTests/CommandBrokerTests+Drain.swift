import LocalStack
import RabbitMQ
import Rig
import TestSupport
import Testing

@testable import BrokerClient
@testable import MartletCommands

extension CommandBrokerTests {
    private func client() throws -> AMQPBlockingClient {
        try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: "test")
    }

    /// Puts messages with one body into a queue.
    private func fill(_ queue: String, _ count: Int, body: [UInt8]) throws {
        let client = try client()
        defer { client.close() }
        var message = OutgoingMessage()
        message.setRoutingKey(queue.utf8.span)
        message.setBody(body.span)
        for _ in 0..<count { _ = try client.submit(message) }
        #expect(try client.flush().allSatisfy { $0.result == .confirmed })
    }

    private func drain(_ options: String..., port: Int? = nil) throws -> ChildProcess.Outcome {
        try Executable.run(
            ["results", "--drain", "--yes"] + options,
            environment: ["MARTLET_BROKER_URI": "amqp://guest:guest@127.0.0.1:\(port ?? broker.port)/"])
    }

    @Test("Draining reaches the results behind more messages than a consumer may hold")
    func drainBehindMany() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        try fill("apns.q.results", 65_600, body: Array("no result".utf8))
        try publish((0..<10).map { result("rejected", job: "b\($0)") }, to: "apns.results")
        let outcome = try drain("--outcome", "rejected", "-o", "json")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text.split(separator: "\n").count == 10)
        #expect(outcome.errorText.contains("65 600 messages are not results"), "\(outcome.errorText)")
        try broker.expect(65_600, in: "apns.q.results")
        try broker.control(["purge_queue", "apns.q.results"])
    }

    @Test("Draining that does not get all messages says so, and its status tells", arguments: ["1s", nil])
    func drainEndsEarly(timeout: String?) throws {
        let client = try client()
        defer { client.close() }
        // The queue delivers to its first consumer alone, which holds one message.
        func argument(_ name: String, _ value: FieldValue) -> FieldTable.Entry {
            FieldTable.Entry(name: Array(name.utf8), value: value)
        }
        let queue = try client.declareQueue(
            "drain.\(JobIdentifier.new())", exclusive: false,
            arguments: FieldTable(entries: [
                argument("x-queue-type", .text("quorum")), argument("x-single-active-consumer", .boolean(true)),
            ]))
        try fill(queue, 3, body: result("accepted", job: "s").body)
        try client.startConsuming(queue: queue, prefetch: 1)
        _ = try #require(try client.receive(timeout: .seconds(10)))
        let options = ["--queue", queue, "--summary"] + (timeout.map { ["--timeout", $0] } ?? [])
        let outcome = try Executable.run(
            ["results", "--drain", "--yes"] + options, environment: ["MARTLET_BROKER_URI": broker.uri])
        #expect(outcome.status == 75, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("0 of 2 messages in \(queue) were read"), "\(outcome.errorText)")
        #expect(outcome.text.contains("no results"), "the counts are told in any case")
        try client.delete(queue: queue)
    }

    @Test("A drain whose connection is lost tells what it had counted, and has taken nothing else")
    func drainLosesConnection() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        try fill("apns.q.results", 4_000, body: result("accepted", job: "lost").body)
        let proxy = try FaultProxy(to: broker.port)
        proxy.set { $0.bytesPerSecond = 100_000 }
        let output = try TemporaryDirectory()
        let process = try ChildProcess.start(
            Executable.path, ["results", "--drain", "--yes", "--summary", "-o", "json"],
            environment: ["MARTLET_BROKER_URI": "amqp://guest:guest@127.0.0.1:\(proxy.port)/"],
            output: .file(output.file("out")), error: .file(output.file("errors")))
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        func left() throws -> Int {
            let counts = try broker.queueCounts()["apns.q.results"]
            return (counts?.ready ?? 0) + (counts?.unacknowledged ?? 0)
        }
        while try left() > 3_800 { try #require(ContinuousClock.now < deadline, "nothing is drained") }
        proxy.reset()
        #expect(process.wait(timeout: .seconds(30)) == .exited(69))
        let text = try ChildProcess.run("/bin/cat", [output.file("out")]).text
        let counted = try #require(try JSON(reading: Array(text.utf8))["total"]?.integer)
        let remaining = try left()
        #expect(counted >= 200 && remaining < 4_000 && Int(counted) >= 4_000 - remaining, "\(counted), \(remaining)")
        try broker.expect(remaining, in: "apns.q.results")
    }

    @Test("One result of many large messages takes no more memory than some of them")
    func drainKeepsSmall() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        let line = String(decoding: result("accepted", job: "large").body.dropLast(), as: UTF8.self)
        let body = Array("\(line),\"reference\":\"\(String(repeating: "x", count: 64 << 10))\"}".utf8)
        try fill("apns.q.results", 3_000, body: body)
        // The peak of a process in KiB is known to its parent once it has ended.
        let script = """
            import resource, subprocess, sys
            status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
            print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
            """
        let outcome = try ChildProcess.run(
            "/usr/bin/python3",
            ["-c", script, Executable.path, "results", "--drain", "--yes", "--count", "1"],
            environment: ["MARTLET_BROKER_URI": broker.uri], timeout: .seconds(50))
        let numbers = outcome.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 2, "\(outcome.text) \(outcome.errorText)")
        #expect(numbers[0] == 0 && numbers[1] < 150 << 10, "status and KiB: \(numbers)")
        try broker.expect(2_999, in: "apns.q.results")
        try broker.control(["purge_queue", "apns.q.results"])
    }
}
