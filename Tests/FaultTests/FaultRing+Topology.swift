import APNSSimulator
import EventLoop
import Foundation
import LocalStack
import PushModel
import Rig
import Topology

@testable import PushWorker

// What operators do to a broker, by mistake or on purpose, and what must hold meanwhile.
extension FaultRing {
    /// Writes everything the broker was told to a file.
    ///
    /// - Returns: The file, for `restore(_:)`.
    func keepDefinitions() async throws -> String {
        let path = broker.directory.file("bench-definitions.json")
        try await control("export_definitions", path)
        try Self.removeTaps(from: path)
        return path
    }

    /// Takes the bindings of tap queues out of definitions: those queues live as long as their connections, and
    /// RabbitMQ 4 exports their bindings without them.
    static func removeTaps(from path: String) throws {
        let file = URL(filePath: path)
        var definitions = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        let bindings = definitions["bindings"] as? [[String: Any]] ?? []
        definitions["bindings"] = bindings.filter { !("\($0["destination"] ?? "")".hasPrefix("apns.q.tap.")) }
        try JSONSerialization.data(withJSONObject: definitions).write(to: file)
    }

    /// Creates whatever is missing again: objects, bindings, policies, users and what they may do.
    ///
    /// - Parameter definitions: The file that `keepDefinitions()` wrote.
    func restore(_ definitions: String) async throws { try await control("import_definitions", definitions) }

    /// Lets the broker evaluate an Erlang expression.
    ///
    /// - Parameter expression: Without the final dot.
    /// - Returns: The lines that the expression wrote.
    @discardableResult
    func evaluate(_ expression: String) async throws -> [Substring] {
        try await BlockingWork.run("evaluate") { [broker] in try broker.evaluate("\(expression).").written }
    }

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
    ///
    /// - Parameter text: A part of the reason.
    func awaitReason(_ text: String) async throws {
        try await until("readiness says \"\(text)\"") { [self] in
            let readiness = try worker.readiness()
            // While its neighbour publishes, a route's trouble is its own.
            return (readiness.reasons + readiness.routes.compactMap(\.reason)).contains { $0.contains(text) }
        }
    }

    /// Waits until a route of all workers is in a state, of itself that in which it is served.
    func awaitRoute(_ name: String, being state: String = "ready") async throws {
        try await until("the route \(name) is \(state)") { [self] in
            workers.allSatisfy { worker in
                // A worker that has just been started does not answer yet.
                (try? worker.readiness())?.routes.contains { $0.name == name && $0.state == state } == true
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
    ///
    /// - Parameters:
    ///   - reason: A part of what readiness says meanwhile.
    ///   - most: How many may be pushed and not reported; by default as many as a worker may hold on a channel that was
    ///     lost, and on the next one.
    ///   - isPartial: Whether only some have nothing that can be reported: the others may all be pushed before anything
    ///     stands still.
    func awaitStandstill(
        _ reason: String, atMost most: Int = 2 * RouteCredit.maximum, isPartial: Bool = false
    ) async throws {
        try await publish(5_000, taking: 0...500)
        try await awaitReason(reason)
        var last = -1
        // Longer than any push takes, and than a refused result waits to be published again.
        while pushes != last {
            last = pushes
            try await endure(.seconds(6))
        }
        expect(last < promises || isPartial, "everything was pushed although nothing could be reported")
        // Acknowledged first, stored then: what becomes final in between is not a contradiction.
        let left = try await local.jobCounts().total
        let neighbours = neighboursResults
        let counts = try await local.queueCounts()
        let stored =
            [TopologyNames.resultsQueue, TopologyNames.unclaimedResultsQueue].reduce(0) {
                $0 + (counts[$1]?.total ?? 0)
            } - neighbours
        expect(promises - left <= stored, "\(promises - left) jobs were acknowledged, and \(stored) results are stored")
        let unreported = last - (promises - left)
        note("\(unreported) pushed and not reported meanwhile")
        expect(unreported > 0, "everything that was pushed is reported: the run says nothing")
        expect(unreported <= most, "\(unreported) were pushed and not reported, \(most) are allowed")
    }

    /// Waits until jobs that were not sent are back in their queue, for other workers, because nothing could be
    /// reported for so long; and expects that they stay there.
    func awaitHandedBack() async throws {
        let pushed = pushes
        @Sendable func unsent() throws -> Int {
            let jobs = try broker.queueCounts().filter { $0.key.hasPrefix("apns.q.jobs.") }.values
            let acknowledged = promises - jobs.reduce(0) { $0 + $1.total }
            return jobs.reduce(0) { $0 + $1.unacknowledged } - (pushed - acknowledged)
        }
        let before = try await BlockingWork.run("unsent", unsent)
        note("\(before) held unsent")
        try await until("what was not sent is handed back") { try unsent() <= 0 }
        try await expectNoPush(for: .seconds(6), "it is all handed back")
        expect(pushes == pushed, "\(pushes - pushed) pushes more although results cannot be published")
        let after = try await BlockingWork.run("unsent", unsent)
        expect(after <= 0, "\(after) jobs were taken again although nothing can be reported")
    }
}

extension FaultSetup {
    /// How many pushes may be under way at once where `narrow()` was called.
    static let fewStreams = 100

    /// Lets workers hold far more jobs than they may push at once: only care can then keep them from pushing what they
    /// cannot report.
    mutating func narrow() {
        var plan = ConnectionPlan()
        plan.streams = UInt32(Self.fewStreams)
        scenario.connections = [ConnectionRule(plan)]
        milliseconds = 100...500
        variables["MARTLET_PREFETCH"] = "\(RouteCredit.maximum)"
        let routes = apps.map {
            #"{"name":"\#($0.route)","environment":"development","topics":["\#($0.topic)"],"#
                + #""credential":"local","connections":1}"#
        }
        variables["MARTLET_ROUTES"] = "[\(routes.joined(separator: ","))]"
    }

    /// The most pushes that may start after the broker stopped taking results, where `narrow()` was called: as many as
    /// results may wait, and those whose answers come at once, and those that take their streams.
    static let mostPushesUnpublished = Publisher.congestion + 2 * fewStreams
    /// The most that may be pushed and not reported while results are refused, where `narrow()` was called: as many
    /// may be refused besides, and some are under way to the broker and back.
    static let mostUnreported = 2 * (Publisher.congestion + 2 * fewStreams)
}
