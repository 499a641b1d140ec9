import APNSSimulator
import LocalStack
import PushModel
import RabbitMQ
import Testing

@Suite("Bad input through a broker", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct BadInputTests {
    /// The virtual host of this suite and the worker that all its tests share: what one of them breaks, the next sees.
    private static let stack = Task(executorPreference: ThreadExecutor()) {
        let stack = try await BrokerStack.start(
            "bad-input",
            apps: [
                BrokerStack.App(route: "app", topic: "com.example.app"),
                BrokerStack.App(route: "other", topic: "com.example.other"),
            ])
        return (stack: stack, worker: try stack.startWorker())
    }

    private let stack: BrokerStack

    init() async throws {
        stack = try await Self.stack.value.stack
    }

    @Test("gets a result with a reason and a dead letter, and the next job is pushed", arguments: BadJob.all)
    func badJob(_ bad: BadJob) throws {
        guard try reachesWorkers(bad) else { return }
        let client = try JobClient(stack)
        defer { client.close() }
        try publish(bad, with: client)
        try client.publishGoodJob(as: "good after \(bad.name)")
        let (message, result) = try client.result(bad.name)
        checkResult(result, message, of: bad)
        let letter = try client.next(bad.name, from: "apns.q.dead")
        switch bad.writer {
        case .worker: checkLetter(letter, of: bad, result)
        case .broker: checkBrokersLetter(letter, of: bad)
        }
        let good = try client.result("good after \(bad.name)")
        #expect(good.result.outcome == "accepted")
        #expect(good.result.detail == nil)
        #expect(stack.simulator.ledger.records(token: String(decoding: Tokens.bad, as: UTF8.self)).isEmpty)
    }

    @Test("of all kinds among good jobs leaves nothing behind: no job, no unacknowledged delivery, no second result")
    func everythingAtOnce() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let all = try BadJob.all.filter(reachesWorkers)
        for (index, bad) in all.enumerated() {
            try client.publishGoodJob(as: "mixed \(index) good")
            try publish(bad, with: client, as: "mixed \(index)")
        }
        for (index, bad) in all.enumerated() {
            #expect(try client.result("mixed \(index)").result.reason == bad.reason, "\(bad.name)")
            #expect(try client.result("mixed \(index) good").result.outcome == "accepted", "\(bad.name)")
            let letter = try client.next("mixed \(index)", from: "apns.q.dead")
            #expect(letter.body == bad.job.body, "\(bad.name)")
        }
        #expect(try stack.leftovers() == [:])
        try client.expectNothing(in: "apns.q.results")
        try client.expectNothing(in: "apns.q.dead")
    }

    private func publish(_ bad: BadJob, with client: JobClient, as correlation: String? = nil) throws {
        if let table = bad.wireHeaders {
            try client.publish(bad.job, wireHeaders: table, as: correlation ?? bad.name)
        } else {
            try client.publish(bad.job, as: correlation ?? bad.name)
        }
    }

    // MARK: What is checked

    private func checkResult(_ result: JobResult, _ message: ReceivedMessage, of bad: BadJob) {
        #expect(String(decoding: message.routingKey, as: UTF8.self) == "\(bad.outcome).\(bad.key)")
        #expect(message.exchange == "apns.results")
        #expect(message.contentType == Array("application/json".utf8))
        #expect(message.type == Array("apns.result.v1".utf8))
        #expect(message.text("x-apns-outcome") == bad.outcome)
        #expect(message.text("x-apns-reason") == bad.reason)
        #expect(message.number("x-apns-attempt") == 1)
        #expect(result.outcome == bad.outcome)
        #expect(result.reason == bad.reason)
        #expect(result.action == bad.action)
        #expect(result.jobId == String(decoding: bad.job.messageID ?? Array(bad.name.utf8), as: UTF8.self))
        #expect(result.index == 0)
        #expect(result.status == nil)
        #expect(result.route == bad.route)
        #expect(result.worker == "ring")
        #expect(result.attempt == 1)
        #expect(!result.redelivered)
        checkDetail(result.detail)
    }

    /// Whether a bad job reaches workers as it is: RabbitMQ 4 delivers only one of two headers of the same name.
    private func reachesWorkers(_ bad: BadJob) throws -> Bool {
        guard bad.reason == Reason.duplicateHeaders.rawValue else { return true }
        return try stack.broker.evaluate("rabbit_misc:version().").value.hasPrefix("\"3.")
    }

    /// A sentence that says more than the reason, and nothing that a log must not hold.
    private func checkDetail(_ detail: String?) {
        let detail = detail ?? ""
        #expect(detail.utf8.count > 15)
        #expect(!detail.contains("5ec2e7ab") && !detail.contains("SECRET"))
    }

    private func checkLetter(_ letter: ReceivedMessage, of bad: BadJob, _ result: JobResult) {
        #expect(letter.exchange == "apns.dead")
        #expect(String(decoding: letter.routingKey, as: UTF8.self) == "\(bad.outcome).\(bad.key)")
        #expect(letter.body == bad.job.body)
        #expect(letter.contentType == bad.job.contentType.map { Array($0.utf8) })
        #expect(letter.contentEncoding == bad.job.contentEncoding.map { Array($0.utf8) })
        #expect(letter.messageID == bad.job.messageID ?? Array(bad.name.utf8))
        let own = bad.keepsHeaders ? bad.job.headers : []
        // Which order headers have is the broker's choice: RabbitMQ 4 sorts them.
        var added = letter.headers
        for original in own {
            let position = added.firstIndex {
                $0.name == String(decoding: original.name, as: UTF8.self) && $0.value == original.value
            }
            #expect(position != nil, "\(String(decoding: original.name, as: UTF8.self))")
            if let position { added.remove(at: position) }
        }
        #expect(
            Set(added.map(\.name))
                == [
                    "x-apns-outcome", "x-apns-action", "x-apns-reason", "x-apns-attempt", "x-apns-detail",
                    "x-apns-original-routing-key", "x-apns-first-attempt-at", "x-apns-died-at", "x-apns-worker",
                ])
        #expect(letter.text("x-apns-outcome") == bad.outcome)
        #expect(letter.text("x-apns-action") == result.action)
        #expect(letter.text("x-apns-reason") == bad.reason)
        #expect(letter.text("x-apns-detail") == result.detail)
        #expect(letter.text("x-apns-original-routing-key") == String(decoding: bad.job.routingKey, as: UTF8.self))
        #expect(letter.text("x-apns-worker") == "ring")
        #expect(letter.number("x-apns-died-at") ?? 0 >= result.finishedAt - 1_000)
    }

    /// The broker keeps key, body and properties, and adds `x-death`.
    private func checkBrokersLetter(_ letter: ReceivedMessage, of bad: BadJob) {
        #expect(letter.exchange == "apns.dead")
        #expect(letter.routingKey == bad.job.routingKey)
        #expect(letter.body == bad.job.body)
        #expect(letter.contentType == bad.job.contentType.map { Array($0.utf8) })
        #expect(letter.text("x-apns-outcome") == nil)
        #expect(letter.headers.contains { $0.name == "x-death" })
        #expect(letter.text("x-first-death-reason") == "rejected")
    }
}
