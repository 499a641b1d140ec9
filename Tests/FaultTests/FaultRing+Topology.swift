import LocalStack
import PushModel

@testable import martlet

// What operators do to a broker, by mistake or on purpose, and what must hold meanwhile.
extension FaultRing {
    /// Writes everything the broker was told to a file.
    /// - Returns: The file, for `restore(_:)`.
    func keepDefinitions() async throws -> String {
        let path = broker.directory.file("bench-definitions.json")
        try await control("export_definitions", path)
        return path
    }

    /// Creates whatever is missing again: objects, bindings, policies, users and what they may do.
    /// - Parameter definitions: The file that `keepDefinitions()` wrote.
    func restore(_ definitions: String) async throws { try await control("import_definitions", definitions) }

    /// Lets the broker evaluate an Erlang expression.
    /// - Parameter expression: Without the final dot.
    @discardableResult
    func evaluate(_ expression: String) async throws -> String { try await control("eval", "\(expression).") }

    /// Removes every binding of an exchange.
    func unbind(_ exchange: String) async throws {
        try await evaluate(
            "[rabbit_binding:remove(B, <<\"bench\">>) || B <- rabbit_binding:list_for_source(\(name(exchange)))]")
    }

    /// Binds a queue to an exchange for every key.
    func bind(_ queue: String, to exchange: String) async throws {
        let destination = "rabbit_misc:r(<<\"/\">>, queue, <<\"\(queue)\">>)"
        try await evaluate(
            "ok = rabbit_binding:add({binding, \(name(exchange)), <<\"#\">>, \(destination), []}, <<\"bench\">>)")
    }

    /// Deletes an exchange with its bindings.
    func deleteExchange(_ exchange: String) async throws {
        try await evaluate("ok = rabbit_exchange:delete(\(name(exchange)), false, <<\"bench\">>)")
    }

    /// An exchange's name as Erlang writes it.
    private func name(_ exchange: String) -> String { "rabbit_misc:r(<<\"/\">>, exchange, <<\"\(exchange)\">>)" }

    /// Waits until the first worker's readiness gives a reason.
    /// - Parameter text: A part of the reason.
    func awaitReason(_ text: String) async throws {
        try await until("readiness says \"\(text)\"") { [self] in
            try worker.readiness().reasons.contains { $0.contains(text) }
        }
    }

    /// Waits until a route of all workers is served.
    func awaitRoute(_ name: String) async throws {
        try await until("the route \(name) is ready") { [self] in
            workers.allSatisfy { worker in
                // A worker that has just been started does not answer yet.
                (try? worker.readiness())?.routes.contains { $0.name == name && $0.state == "ready" } == true
            }
        }
    }

    /// Waits until every job that was published is settled and acknowledged.
    func awaitEmptyJobQueues() async throws {
        try await until("no job is left in a queue") { [self] in
            try broker.queueCounts().allSatisfy { name, counts in !name.hasPrefix("apns.q.jobs.") || counts.total == 0 }
        }
    }

    /// Publishes more than may be pushed while nothing can be reported, waits until no more is, and expects the rest
    /// to be in its queue.
    /// - Parameter reason: A part of what readiness says meanwhile.
    func awaitStandstill(_ reason: String) async throws {
        try await publish(5_000, taking: 0...500)
        try await awaitReason(reason)
        var last = -1
        while pushes != last {
            last = pushes
            try await endure(.seconds(2))
        }
        expect(last < promises, "everything was pushed although nothing could be reported")
        let counts = try await local.queueCounts()
        let stored = [TopologyNames.resultsQueue, TopologyNames.unclaimedResultsQueue].reduce(0) {
            $0 + (counts[$1]?.total ?? 0)
        }
        let left = try await local.jobCounts().total
        expect(promises - left <= stored, "\(promises - left) jobs were acknowledged, and \(stored) results are stored")
        note("\(last - (promises - left)) pushed and not reported meanwhile")
    }
}
