import APNSSimulator
import LocalStack
import PushWorker
import RabbitMQ
import TLS
import TestSupport
import Testing
import WorkerSettings

@Suite("Routes that come and go while their worker runs", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct RouteReloadTests {
    private static func jobs(_ count: Int, _ topic: String, as prefix: String) -> [(job: TestJob, correlation: String)]
    {
        let job = TestJob.raw(token: .text(Tokens.good))
            .keyed("development.normal.com.example.\(topic)")
        return (0..<count).map { (job, "\(prefix) \($0)") }
    }

    private static func expectAccepted(_ count: Int, of prefix: String, _ client: JobClient) throws {
        for job in 0..<count {
            let result = try client.result("\(prefix) \(job)").result
            #expect(result.outcome == "accepted", "\(prefix) \(job): \(result.reason ?? "-"), \(result.detail ?? "-")")
        }
    }

    /// A route that differs from another in its name and topic.
    private static func route(_ name: String, like other: RouteConfiguration) -> RouteConfiguration {
        var route = other
        route.name = name
        route.topics = ["com.example.\(name)"]
        return route
    }

    @Test("A route that is added begins at once, and its neighbour loses nothing meanwhile")
    func added() async throws {
        let stack = try await BrokerStack.start("reload-added", requestTimeout: "30s")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        try client.publish(Self.jobs(200, "app", as: "before"))
        var configuration = stack.configuration
        configuration.routes.insert(Self.route("new", like: configuration.routes[0]), at: 0)
        try stack.apply(configuration)
        try client.publish(Self.jobs(100, "new", as: "new"))
        worker.worker.reload(configuration)
        try client.publish(Self.jobs(200, "app", as: "after"))
        try Self.expectAccepted(100, of: "new", client)
        try Self.expectAccepted(200, of: "before", client)
        try Self.expectAccepted(200, of: "after", client)
        _ = try stack.route("new", of: worker) { $0.state == "ready" }
        #expect(worker.worker.routeNames() == ["app", "unrouted", "new"])
        #expect(stack.simulator.ledger.records().count == 500)
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
        #expect(worker.worker.isDrained)
    }

    @Test(
        "A route that is removed finishes what it began and gives the rest back: nothing is lost or pushed twice",
        arguments: 0..<4)
    func removed(round: Int) async throws {
        let tokens = 300
        let stack = try await BrokerStack.start(
            "reload-removed-\(round)",
            apps: [
                BrokerStack.App(route: "app", topic: "com.example.app", rate: 40),
                BrokerStack.App(route: "other", topic: "com.example.other"),
            ])
        let client = try JobClient(stack)
        defer { client.close() }
        let list = (0..<tokens).map { number in
            let digits = String(number, radix: 16)
            return "\"\(String(repeating: "a", count: 64 - digits.count))\(digits)\""
        }.joined(separator: ",")
        try client.publish(
            .enveloped(#"{"device_tokens":[\#(list)],"payload":{"aps":{"alert":"SECRET"}}}"#), as: "many")
        try client.publish(Self.jobs(100, "app", as: "single"))
        let worker = try stack.startWorker()
        // The multicast job is begun. One that was not begun would go back, and come again as a redelivery.
        try stack.awaitPushes(1, to: "aaaa")
        var configuration = stack.configuration
        configuration.routes.removeFirst()
        worker.worker.reload(configuration)
        try client.publish(Self.jobs(100, "other", as: "beside"))
        _ = try stack.readiness(of: worker) { readiness in !readiness.routes.contains { $0.name == "app" } }
        while worker.worker.routeNames()[0] != nil { try await yieldUnlessOver() }
        try Self.expectAccepted(100, of: "beside", client)
        // What the route gave back is in its queue a moment later.
        while try stack.waitingJobs(of: "app", \.unacknowledged) != 0 { try await yieldUnlessOver() }
        #expect(try stack.waitingJobs(of: "app", \.ready) > 0)

        // Back again, without a limit.
        configuration.routes.append(stack.configuration.routes[0])
        configuration.routes[1].rate = nil
        worker.worker.reload(configuration)
        try Self.expectAccepted(100, of: "single", client)
        let results = try (0..<tokens).map { _ in try client.result("many").result }
        #expect(results.allSatisfy { $0.outcome == "accepted" && $0.attempt == 1 && !$0.redelivered })
        #expect(Set(results.map(\.index)).count == tokens)
        #expect(worker.worker.routeNames() == ["app", "other", "unrouted"], "its number was free")
        #expect(stack.simulator.ledger.records().count == tokens + 200)
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("A route that changes drains and begins again, as often as it changes")
    func changed() async throws {
        let stack = try await BrokerStack.start("reload-changed")
        let client = try JobClient(stack)
        defer { client.close() }
        var configuration = stack.configuration
        configuration.routes[0].topics.append("com.example.more")
        try stack.apply(configuration)
        let worker = try stack.startWorker()
        for round in 0..<6 {
            try client.publish(Self.jobs(50, "app", as: "app \(round)"))
            worker.worker.reload(round.isMultiple(of: 2) ? configuration : stack.configuration)
            try client.publish(Self.jobs(50, "app", as: "then \(round)"))
            try Self.expectAccepted(50, of: "app \(round)", client)
            try Self.expectAccepted(50, of: "then \(round)", client)
        }
        worker.worker.reload(configuration)
        // Until each lane has the route with the topic, it refuses jobs with the topic.
        var (more, round, inARow) = (0, 0, 0)
        while inARow < 5 {
            try client.publish(Self.jobs(10, "more", as: "more \(round)"))
            let outcomes = try (0..<10).map { try client.result("more \(round) \($0)").result.outcome }
            more += outcomes.count { $0 == "accepted" }
            inARow = outcomes.allSatisfy { $0 == "accepted" } ? inARow + 1 : 0
            round += 1
        }
        // After ten seconds the channels of the former routes are closed, and the next ones take their places.
        let closed = ContinuousClock.now.advanced(by: .seconds(11))
        var meanwhile = 0
        while ContinuousClock.now < closed {
            try client.publish(Self.jobs(10, "app", as: "meanwhile \(meanwhile)"))
            try Self.expectAccepted(10, of: "meanwhile \(meanwhile)", client)
            meanwhile += 1
        }
        for round in 0..<4 {
            worker.worker.reload(round.isMultiple(of: 2) ? stack.configuration : configuration)
            try client.publish(Self.jobs(50, "app", as: "again \(round)"))
            try Self.expectAccepted(50, of: "again \(round)", client)
        }
        #expect(worker.worker.routeNames() == ["app", "unrouted"])
        let count = 800 + more + 10 * meanwhile
        #expect(stack.simulator.ledger.records().count == count)
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
        #expect(worker.worker.summary.hasPrefix("accepted \(count)"), "what routes counted that have left counts")
    }

    @Test("A worker that shares its routes with others takes up its share of the new ones", arguments: ["auto", "2/2"])
    func shared(share: String) async throws {
        let stack = try await BrokerStack.start(
            "reload-share-\(share.prefix(1))", settings: "share: \(share)")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        try client.publish(Self.jobs(20, "app", as: "before"))
        try Self.expectAccepted(20, of: "before", client)
        var configuration = stack.configuration
        configuration.routes = [Self.route("new", like: configuration.routes[0])]
        try stack.apply(configuration)
        worker.worker.reload(configuration)
        try client.publish(Self.jobs(20, "new", as: "new"))
        try Self.expectAccepted(20, of: "new", client)
        _ = try stack.readiness(of: worker) { $0.routes.map(\.name).sorted() == ["new", "unrouted"] }
        try await worker.stop()
    }

    @Test("A new route whose credential cannot be read is parked alone, and begins once its files are there")
    func unreadable() async throws {
        let stack = try await BrokerStack.start("reload-unreadable")
        let directory = try TemporaryDirectory(prefix: "martlet-reload")
        defer { directory.remove() }
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        var configuration = stack.configuration
        guard case .token(var token)? = configuration.credentials.first(where: { $0.name == "local" }) else {
            throw RingFailure("no credential is called local")
        }
        (token.name, token.keyFile, token.keyID) = ("late", directory.file("late.p8"), "LATE000001")
        configuration.credentials.append(.token(token))
        configuration.routes.append(Self.route("new", like: configuration.routes[0]))
        configuration.routes[1].credential = "late"
        try stack.apply(configuration)
        worker.worker.reload(configuration)
        let parked = try stack.route("new", of: worker) { $0.state == "parked" }
        #expect(parked.reason?.contains("late") == true)
        try client.publish(Self.jobs(20, "app", as: "beside"))
        try Self.expectAccepted(20, of: "beside", client)

        let key = try ES256PrivateKey.generate()
        stack.simulator.control.add(ProviderKey(keyID: "LATE000001", teamID: "MARTLETDEV", publicKey: key.publicKey))
        try directory.write(key.pem, to: "late.p8")
        worker.worker.reload(configuration)
        try client.publish(Self.jobs(20, "new", as: "new"))
        try Self.expectAccepted(20, of: "new", client)
        try await worker.stop()
    }
}
