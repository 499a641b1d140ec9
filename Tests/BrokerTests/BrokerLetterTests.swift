import APNSSimulator
import BrokerClient
import LocalStack
import Logging
import PushModel
import PushWorker
import RabbitMQ
import TestSupport
import Testing
import Topology

/// Jobs that RabbitMQ takes out of their queues by itself, before a worker can report them.
@Suite("Jobs that RabbitMQ ends", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct BrokerLetterTests {
    private static let apps = [
        BrokerStack.App(route: "app", topic: "com.example.app"),
        BrokerStack.App(route: "other", topic: "com.example.other"),
    ]
    private static let tokens = [Tokens.good, Tokens.bad].map { String(decoding: $0, as: UTF8.self) }

    /// Whether nobody but the broker writes `x-death`, so that the results name the job's app.
    private func provesDeaths(_ stack: BrokerStack) throws -> Bool {
        try stack.broker.control(["version"]).split(separator: ".").first.flatMap { Int($0) } ?? 0 >= 4
    }

    /// Waits until the copies of so many of RabbitMQ's letters wait.
    private func awaitLetters(_ count: Int, _ stack: BrokerStack) throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        while try stack.broker.queueCounts(virtualHost: stack.virtualHost)[TopologyNames.brokerLettersQueue]?.total
            != count
        {
            guard ContinuousClock.now < deadline else { throw RingFailure("there are no \(count) letters") }
            BrokerStack.pause()
        }
    }

    @Test("A job whose property expiration passed has its results and its reply, and its letter stays")
    func expiration() async throws {
        let stack = try await BrokerStack.start(
            "letters", apps: Self.apps, settings: #"replies: { allow: "^(shop|apns[.]q[.]reply[.].+)$" }"#)
        let topic = try provesDeaths(stack) ? "com.example.app" : nil
        let client = try JobClient(stack)
        defer { client.close() }
        let replies = try client.tap("apns.replies", key: "shop", name: "apns.q.reply.shop.1")
        func job(_ body: String) -> TestJob { .enveloped(body).with { $0.expiration = "1" } }
        let payload = #""payload":{"aps":{"alert":"x"}}"#
        try client.publish(job(#"{"device_token":"\#(Self.tokens[0])",\#(payload)}"#), as: "one")
        try client.publish(
            job(#"{"device_tokens":["\#(Self.tokens[0])","\#(Self.tokens[1])"],\#(payload)}"#), as: "many")
        try client.publish(
            job(#"{"device_token":"\#(Self.tokens[0])",\#(payload)}"#).with { $0.replyTo = "shop" }, as: "reply")
        try client.publish(
            job(#"{"device_token":"\#(Self.tokens[0])",\#(payload)}"#).with { $0.replyTo = "apns.q.reply.shop.1" },
            as: "queue")
        try client.publish(job("no JSON"), as: "garbage")
        let unrouted = job(#"{"device_token":"\#(Self.tokens[0])",\#(payload)}"#)
        try client.publish(unrouted.keyed("development.normal.com.example.nobody"), as: "unrouted")
        try awaitLetters(6, stack)
        let worker = try stack.startWorker()
        try client.publishGoodJob(as: "neighbour", topic: "com.example.other")
        #expect(try client.result("neighbour").result.outcome == "accepted")
        for (name, indexes) in [("one", [0]), ("many", [0, 1]), ("reply", [0]), ("queue", [0]), ("garbage", [0])] {
            for index in indexes {
                let result = try client.result(name).result
                #expect(result.jobId == name && result.index == index)
                #expect(result.outcome == "expired" && result.reason == "ExpirationPassed" && result.redelivered)
                #expect(result.route == "app" && result.topic == topic && result.worker == "ring")
            }
            let letter = try client.next(name, from: "apns.q.dead")
            #expect(letter.text("x-first-death-reason") == "expired")
        }
        let unroutedResult = try client.result("unrouted").result
        #expect(unroutedResult.outcome == "expired" && unroutedResult.route == nil)
        // Only `x-death` has its key, and there a producer may have written it.
        #expect(unroutedResult.topic == nil && unroutedResult.environment == nil)
        _ = try client.next("unrouted", from: "apns.q.dead")
        for name in ["reply", "queue"] {
            let reply = try JobResult.parse(try client.next(name, from: replies).body)
            #expect(reply.jobId == name && reply.outcome == "expired")
        }
        try awaitLetters(0, stack)
        #expect(worker.worker.endedByBroker().map(\.jobs) == [6, 0])
        #expect(stack.simulator.ledger.records().count == 1)
        for queue in ["apns.q.results", "apns.q.dead"] { try client.expectNothing(in: queue) }
        try await worker.stop()
    }

    @Test("A full queue of one app's results withholds no result of another app, and its own come once there is room")
    func fullQueueOfOneApp() async throws {
        let stack = try await BrokerStack.start("letters-full", apps: Self.apps)
        let (client, manager) = (try JobClient(stack), try stack.connect())
        defer {
            client.close()
            manager.close()
        }
        // It refuses every result until it is empty.
        let full = "team.full"
        try declareFull(full, bound: "*.development.com.example.app", by: manager)
        func publish(_ name: String, _ topic: String) throws {
            let job = TestJob.enveloped(#"{"device_token":"\#(Self.tokens[0])","payload":{"aps":{"alert":"x"}}}"#)
            try client.publish(job.with { $0.expiration = "1" }.keyed("development.normal.\(topic)"), as: name)
        }
        try publish("full 1", "com.example.app")
        try awaitLetters(1, stack)
        try publish("full 2", "com.example.app")
        try publish("other", "com.example.other")
        try awaitLetters(3, stack)
        let worker = try stack.startWorker()
        #expect(try client.result("other").result.outcome == "expired")
        // Where nothing proves their app, its queue gets none of them.
        let isProved = try provesDeaths(stack)
        try awaitLetters(isProved ? 2 : 0, stack)
        try manager.purge(queue: full)
        // The common queue has another copy for each try.
        for name in ["full 1", "full 2"] { #expect(try client.result(name).result.outcome == "expired") }
        try awaitLetters(0, stack)
        #expect(try manager.depth(of: full).messages == (isProved ? 2 : 0))
        try manager.delete(queue: full)
        try await worker.stop()
    }

    /// Makes a queue of results that refuses every result until it is empty.
    private func declareFull(_ queue: String, bound key: String, by manager: AMQPBlockingClient) throws {
        let arguments = FieldTable(entries: [
            .init(name: Array("x-max-length".utf8), value: .integer(3)),
            .init(name: Array("x-overflow".utf8), value: .text("reject-publish")),
        ])
        _ = try manager.declareQueue(queue, exclusive: false, arguments: arguments)
        try manager.bind(queue: queue, exchange: "apns.results", routingKey: key)
        for _ in 0..<3 {
            var filler = OutgoingMessage()
            filler.setRoutingKey(queue.utf8Span.span)
            #expect(try manager.publishConfirmed(filler) == .confirmed)
        }
    }

    /// Gives the first job of a queue back once more than the delivery limit allows.
    private func exceedLimit(_ queue: String, _ stack: BrokerStack) throws {
        let consumer = try stack.connect()
        defer { consumer.close() }
        try consumer.startConsuming(queue: queue, prefetch: 1)
        for _ in 0...50 {
            let delivery = try #require(try consumer.receive(timeout: .seconds(10)))
            try consumer.reject(delivery, requeue: true)
        }
    }

    @Test("A full queue of results of one kind withholds no others, also where nothing proves the app of a letter")
    func fullQueueOfOneKind() async throws {
        let stack = try await BrokerStack.start("letters-kind", apps: Self.apps)
        let (client, manager) = (try JobClient(stack), try stack.connect())
        defer {
            client.close()
            manager.close()
        }
        try declareFull("team.kind", bound: "expired.#", by: manager)
        let job = TestJob.enveloped(#"{"device_token":"\#(Self.tokens[0])","payload":{"aps":{"alert":"x"}}}"#)
        try client.publish(job.with { $0.expiration = "1" }.keyed("development.normal.com.example.app"), as: "full")
        // This letter comes first.
        try awaitLetters(1, stack)
        try client.publish(job.keyed("development.normal.com.example.other"), as: "other")
        try exceedLimit("apns.q.jobs.other", stack)
        try awaitLetters(2, stack)
        let worker = try stack.startWorker()
        #expect(try client.result("other").result.outcome == "exhausted")
        try awaitLetters(1, stack)
        try manager.purge(queue: "team.kind")
        #expect(try client.result("full").result.outcome == "expired")
        try awaitLetters(0, stack)
        try manager.delete(queue: "team.kind")
        try await worker.stop()
    }

    @Test("A job that came back too often has one result, and is pushed to nobody")
    func deliveryLimit() async throws {
        let stack = try await BrokerStack.start("letters-limit", apps: Self.apps)
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publishGoodJob(as: "poison")
        try exceedLimit("apns.q.jobs.app", stack)
        try awaitLetters(1, stack)
        let worker = try stack.startWorker()
        let result = try client.result("poison").result
        #expect(result.outcome == "exhausted" && result.reason == "Poison" && result.route == "app")
        #expect(try client.next("poison", from: "apns.q.dead").text("x-first-death-reason") == "delivery_limit")
        try awaitLetters(0, stack)
        #expect(worker.worker.endedByBroker().map(\.jobs) == [0, 1])
        #expect(stack.simulator.ledger.records().isEmpty)
        try client.expectNothing(in: "apns.q.results")
        try await worker.stop()
    }

    @Test("A job that the worker itself rejects has one result; without the queue of letters all else works")
    func otherLetters() async throws {
        let stack = try await BrokerStack.start("letters-other", apps: Self.apps)
        let client = try JobClient(stack)
        defer { client.close() }
        let large = String(repeating: "x", count: 300_000)
        let body = #"{"device_token":"\#(Self.tokens[0])","payload":{"x":"\#(large)"}}"#
        try client.publish(.enveloped(body), as: "large")
        let worker = try stack.startWorker()
        let result = try client.result("large").result
        #expect(result.outcome == "invalid" && result.reason == "BodyTooLarge")
        #expect(try client.next("large", from: "apns.q.dead").text("x-first-death-reason") == "rejected")
        try awaitLetters(0, stack)
        #expect(worker.worker.endedByBroker().map(\.jobs) == [0, 0])
        try client.expectNothing(in: "apns.q.results")
        let operators = try stack.connect()
        _ = try operators.delete(queue: TopologyNames.brokerLettersQueue)
        operators.close()
        for number in 0..<20 { try client.publishGoodJob(as: "good \(number)") }
        for number in 0..<20 { #expect(try client.result("good \(number)").result.outcome == "accepted") }
        try await worker.stop()
    }

    private func awaitLines(_ count: Int, _ text: String, _ lines: LogLines) throws {
        let deadline = ContinuousClock.now.advanced(by: JobClient.patience)
        while lines.all.count(where: { $0.contains(text) }) < count {
            guard ContinuousClock.now < deadline else { throw RingFailure("not said \(count) times: \(text)") }
            BrokerStack.pause()
        }
    }

    @Test("While the queue of results is full the letters wait, and a person is told once; then each job has a result")
    func refused() async throws {
        let stack = try await BrokerStack.start("letters-full", apps: Self.apps)
        let first = try stack.startWorker()
        let filler = try JobClient(stack)
        for number in 0..<3 { try filler.publishGoodJob(as: "filling \(number)") }
        #expect(try stack.leftovers() == [:])
        filler.close()
        try await first.stop()
        let client = try JobClient(stack)
        defer { client.close() }
        try stack.broker.control([
            "set_policy", "-p", stack.virtualHost, "--priority", "20", "--apply-to", "queues", "full",
            #"^apns\.q\.results$"#, #"{"max-length":1,"overflow":"reject-publish"}"#,
        ])
        // RabbitMQ may let a few through.
        let names = (0..<20).map { "late \($0)" }
        let body = #"{"device_token":"\#(Self.tokens[0])","payload":{"aps":{"alert":"x"}}}"#
        for name in names { try client.publish(.enveloped(body).with { $0.expiration = "1" }, as: name) }
        try awaitLetters(names.count, stack)
        let lines = LogLines()
        let worker = try LiveWorker(stack.configuration, logger: lines.logger)
        let refusal = "have no results yet"
        try awaitLines(2, refusal, lines)
        let waiting = try stack.broker.queueCounts(virtualHost: stack.virtualHost)[TopologyNames.brokerLettersQueue]
        #expect(waiting?.total ?? 0 > 0)
        try stack.broker.control(["clear_policy", "-p", stack.virtualHost, "full"])
        for name in names { #expect(try client.result(name).result.outcome == "expired") }
        try awaitLetters(0, stack)
        try awaitLines(1, "have results again", lines)
        #expect(worker.worker.endedByBroker().map(\.jobs) == [names.count, 0])
        // What is tried again is told at the level `debug`.
        #expect(lines.lines(from: .info).count { $0.contains(refusal) } == 1)
        try await worker.stop()
    }

    @Test("Where the worker may write to no queue by itself, the result comes, and says why there is no reply")
    func forbiddenQueue() async throws {
        let stack = try await BrokerStack.start(
            "letters-forbidden", apps: Self.apps, settings: #"replies: { allow: "^apns[.]q[.]reply[.].+$" }"#)
        let client = try JobClient(stack)
        defer { client.close() }
        let replies = try client.tap("apns.replies", key: "shop", name: "apns.q.reply.shop.2")
        let body = #"{"device_token":"\#(Self.tokens[0])","payload":{"aps":{"alert":"x"}}}"#
        let job = TestJob.enveloped(body).with {
            $0.expiration = "1"
            $0.replyTo = "apns.q.reply.shop.2"
        }
        for name in ["one", "two"] { try client.publish(job, as: name) }
        try awaitLetters(2, stack)
        try stack.broker.control([
            "set_permissions", "-p", stack.virtualHost, "guest", ".*", #"^(?!amq\.default$).*$"#, ".*",
        ])
        let worker = try stack.startWorker()
        try client.publishGoodJob(as: "neighbour", topic: "com.example.other")
        #expect(try client.result("neighbour").result.outcome == "accepted")
        for name in ["one", "two"] {
            let result = try client.result(name).result
            #expect(result.outcome == "expired" && result.detail?.contains("(amq.default)") == true)
        }
        try awaitLetters(0, stack)
        for queue in [replies, "apns.q.results"] { try client.expectNothing(in: queue) }
        try await worker.stop()
    }
}
