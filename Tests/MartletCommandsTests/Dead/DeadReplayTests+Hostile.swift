import LocalStack
import RabbitMQ
import Rig
import Testing

@testable import BrokerClient
@testable import MartletCommands

extension DeadReplayTests {
    private static let ownKey = "production.normal.com.a"
    private static let otherKey = "production.normal.com.other"

    /// Publishes a raw job that expires at once, with headers of the producer's choice.
    private func expire(_ id: String, headers: [(String, FieldValue)]) throws {
        let client = try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: "producer")
        defer { client.close() }
        var message = OutgoingMessage()
        message.isMandatory = true
        message.setExchange("apns.jobs".utf8.span)
        message.setRoutingKey(Self.ownKey.utf8.span)
        message.setMessageID(id.utf8.span)
        message.setContentType("application/vnd.apns.payload+json".utf8.span)
        message.setExpiration("1".utf8.span)
        message.addHeader(name: "apns-device-token".utf8.span, value: .text("a1"))
        for (name, value) in headers { message.addHeader(name: name.utf8.span, value: value) }
        message.setBody(Array(#"{"aps":{}}"#.utf8).span)
        #expect(try client.publishConfirmed(message) == .confirmed)
    }

    /// An entry of `x-death` as the broker of 3.10 would keep it, but for the key and the time.
    private static func forgedDeath() -> FieldValue {
        func entry(_ name: String, _ value: FieldValue) -> FieldTable.Entry {
            FieldTable.Entry(name: Array(name.utf8), value: value)
        }
        return .array([
            .table(
                FieldTable(entries: [
                    entry("count", .integer(0)), entry("exchange", .text("apns.jobs")),
                    entry("queue", .text("apns.q.jobs.shop")), entry("reason", .text("expired")),
                    entry("routing-keys", .array([.text(otherKey)])), entry("time", .timestamp(1)),
                ]))
        ])
    }

    @Test("In a letter of the broker no header of the producer counts: it is replayed under the key that it came with")
    func forged() throws {
        let headers: [(String, FieldValue)] = [
            ("x-apns-outcome", .text("exhausted")), ("x-apns-reason", .text("ServiceUnavailable")),
            ("x-apns-original-routing-key", .text(Self.otherKey)), ("x-apns-died-at", .text("5")),
            ("x-apns-detail", .text("a forged detail")), ("x-apns-attempt", .integer(6)),
        ]
        try expire("forged", headers: headers)
        try expire("forged-death", headers: headers + [("x-death", Self.forgedDeath())])
        try broker.expect(2, in: "apns.q.dead")
        let list = try dead("list", "-o", "json").text.split(separator: "\n").map { try JSON(reading: Array($0.utf8)) }
        #expect(list.map { $0["outcome"]?.text } == ["broker: expired", "broker: expired"])
        #expect(list.allSatisfy { $0["topic"]?.text == "com.a" && $0["reason"]?.text == nil })
        let text = try dead("list", "--outcome", "expired").text
        #expect(!text.contains("a forged detail") && !text.contains("attempt 6"), "\(text)")
        for filter in [["--outcome", "exhausted"], ["--topic", "com.other"], ["--reason", "ServiceUnavailable"]] {
            let replay = try Executable.run(
                ["dead", "replay"] + filter, environment: ["MARTLET_BROKER_URI": broker.uri])
            #expect(replay.status == 0 && replay.errorText.contains("0 of 2 dead letters"), "\(replay.errorText)")
        }
        #expect(try dead("show", "forged").text.contains("RabbitMQ: expired in apns.q.jobs.shop"))
        // Before 4.0 nothing tells whether both were published to `apns.jobs`.
        let isProved = try broker.control(["version"]).split(separator: ".").first.flatMap { Int($0) } ?? 0 >= 4
        let dry = try dead("replay", "--all", "--dry-run")
        #expect(dry.errorText.contains("\(isProved ? 2 : 0) of 2 dead letters"), "\(dry.errorText)")
        #expect(dry.errorText.contains("--trust-producers") != isProved)
        let replay = try dead("replay", "--all", "--trust-producers")
        #expect(replay.errorText.contains("2 of 2 dead letters"), "\(replay.errorText)")
        let jobs = try take(2, from: "apns.q.jobs.shop")
        #expect(jobs.allSatisfy { $0.routingKey == Self.ownKey && $0.header("x-apns-outcome") == nil })
    }

    @Test(
        "A number of a message does not end the command",
        arguments: [.text("-9223372036854775808"), .integer(.min), .text("9223372036854775807")] as [FieldValue])
    func absurdTimes(time: FieldValue) throws {
        try expire("absurd", headers: [("x-apns-died-at", time)])
        let value: JobHeader = if case .integer(let number) = time { .integer(number) } else { .text("\(Int64.min)") }
        var worker = letter("worker")
        worker.headers = worker.headers.map { $0.name == "x-apns-died-at" ? ($0.name, value) : $0 }
        try broker.bury(worker)
        try broker.expect(2, in: "apns.q.dead")
        for command in [["list"], ["list", "--older-than", "1h"], ["show", "worker"], ["show", "absurd"]] {
            let outcome = try Executable.run(["dead"] + command, environment: ["MARTLET_BROKER_URI": broker.uri])
            #expect(outcome.status == 0, "\(command): \(outcome.errorText)")
        }
        let far = try dead("replay", "--all", "--dry-run", "--deadline", "+2562047788015h")
        #expect(far.status == 0, "\(far.errorText)")
        #expect(try dead("purge", "--all", "--yes").status == 0)
    }

    @Test("A job whose body is too large stays, and a dry run says the same")
    func tooLarge() throws {
        var large = letter("large")
        let text = String(repeating: "x", count: 262_145)
        large.body = Array(#"{"device_tokens":["a1"],"payload":{"x":"\#(text)"}}"#.utf8)
        try broker.bury(large)
        for option in [["--dry-run"], []] {
            let outcome = try Executable.run(
                ["dead", "replay", "--all"] + option, environment: ["MARTLET_BROKER_URI": broker.uri])
            #expect(outcome.errorText.contains("0 of 1 dead letters"), "\(outcome.errorText)")
            #expect(outcome.errorText.contains("1 would be refused again: BodyTooLarge"), "\(outcome.errorText)")
        }
        try broker.expect(1, in: "apns.q.dead")
    }

    @Test("A letter of a job that was moved by hand says so, and a letter that was moved keeps its job's key")
    func moved() throws {
        var moved = letter("moved")
        moved.headers = moved.headers.map {
            $0.name == "x-apns-original-routing-key" ? ($0.name, .text("apns.q.jobs.shop")) : $0
        }
        try broker.bury(moved, letter("good"))
        let outcome = try dead("replay", "--all")
        #expect(outcome.errorText.contains("1 of 2 dead letters"), "\(outcome.errorText)")
        #expect(outcome.errorText.contains("1 were moved by hand to a queue"), "\(outcome.errorText)")
        try broker.expect(1, in: "apns.q.dead")
        #expect(try take(1, from: "apns.q.jobs.shop").first?.routingKey == "production.high.com.a")
    }

    @Test("Headers with a part as large as copies may have are read")
    func nestedHeaders() throws {
        let client = try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: "worker")
        defer { client.close() }
        var message = OutgoingMessage()
        message.setExchange("apns.dead".utf8.span)
        message.setRoutingKey("exhausted.production.com.a".utf8.span)
        message.setMessageID("wide".utf8.span)
        // Nine bytes each: 33,300, over the limit of a producer's headers and within that of copies.
        message.addHeader(name: "x-list".utf8.span, value: .array(Array(repeating: .integer(1), count: 3_700)))
        message.addHeader(name: "x-apns-outcome".utf8.span, value: .text("exhausted"))
        message.addHeader(name: "x-apns-original-routing-key".utf8.span, value: .text(Self.ownKey))
        message.setBody(Array(#"{"device_token":"a1","payload":{"aps":{}}}"#.utf8).span)
        message.setContentType("application/json".utf8.span)
        #expect(try client.publishConfirmed(message) == .confirmed)
        #expect(try dead("list").text.contains("exhausted"))
        let replay = try dead("replay", "--all", "--dry-run")
        #expect(replay.errorText.contains("1 of 1 dead letters"), "\(replay.errorText)")
    }

    @Test("A filter by campaign reads a body in the time that its length takes")
    func campaign() throws {
        var large = letter("large")
        let strings = Array(repeating: #""\n""#, count: 1_600_000).joined(separator: ",")
        large.body = Array(#"{"a":[\#(strings)],"reference":"campaign-\u0037/1"}"#.utf8)
        try broker.bury(large)
        let list = try dead("list", "--campaign", "campaign-7/")
        #expect(list.status == 0 && list.text.contains("  large  "), "\(list.errorText)")
    }
}
