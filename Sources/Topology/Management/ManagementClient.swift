import Foundation
package import PushModel
import Text

/// Asks RabbitMQ's management API about a broker's objects, and changes them.
/// It works object by object, because only administrators may send whole definitions.
package struct ManagementClient: Sendable {
    private let connection: ManagementConnection

    /// The result of applying a topology.
    package struct Application: Sendable {
        /// The differences that were mended, in the order of ``TopologyComparison/drift``.
        package let mended: [TopologyDrift]
        /// The differences that are left: only deleting could change the object, or it belongs to nobody any more, or
        /// another configuration may need it.
        package let remaining: [TopologyDrift]
    }

    /// Prepares a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - address: `http(s)://user:password@host:port` with percent-encoded user and password.
    ///   - timeout: How long one request may take.
    /// - Throws: When the address is malformed.
    package init(address: SecretText, timeout: Duration = .seconds(10)) throws(ManagementError) {
        let seconds = Double(timeout.wholeMilliseconds) / 1000
        connection = try ManagementConnection(address: address.revealed, timeout: seconds)
    }

    /// Where the API is, without user and password.
    package var place: String { connection.place }

    /// The place in parts, with the user.
    package var location: ManagementPlace { connection.location }

    /// The objects of a virtual host.
    package func live(virtualHost: String) async throws(ManagementError) -> LiveTopology {
        LiveTopology(
            exchanges: try await list("exchanges", virtualHost, of: ManagementAnswers.Exchange.self),
            queues: try await list("queues", virtualHost, of: ManagementAnswers.Queue.self),
            bindings: try await list("bindings", virtualHost, of: ManagementAnswers.Binding.self),
            policies: try await list("policies", virtualHost, of: ManagementAnswers.Policy.self),
            operatorPolicies: try await list("operator-policies", virtualHost, of: ManagementAnswers.Policy.self))
    }

    /// The differences between a topology and what its virtual host holds.
    package func check(_ topology: BrokerTopology) async throws(ManagementError) -> [TopologyDrift] {
        topology.compared(with: try await live(virtualHost: topology.virtualHost)).drift
    }

    /// Makes missing objects, changes policies, moves bindings, and removes stale objects last.
    ///
    /// Takes the steps of ``TopologyComparison/plan(prunes:)``. If it ends half way, it can be called again.
    ///
    /// - Parameters:
    ///   - topology: The topology that the broker should have.
    ///   - prunes: Whether also bindings go that lead to queues of routes which the topology does not have.
    ///   - approved: The bindings that may be removed, beside those made on the way; nil for all stale ones. Others that
    ///     have become stale since remain.
    /// - Returns: The differences that were mended, and those that are left.
    /// - Throws: The error of the first request that fails. The steps before it stay done.
    package func apply(
        _ topology: BrokerTopology, prunes: Bool = false, removing approved: [LiveTopology.Binding]? = nil
    ) async throws(ManagementError) -> Application {
        var comparison = topology.compared(with: try await live(virtualHost: topology.virtualHost))
        let rows = comparison.drift
        var made: Set<TopologyBinding> = []
        // The second plan removes what the first one leaves behind. A third one is for changes that somebody else made
        // meanwhile.
        for _ in 0..<3 {
            let plan = comparison.plan(prunes: prunes) { binding in
                approved.map { $0.contains(binding) } ?? true || made.contains(TopologyBinding(binding))
            }
            guard !plan.isEmpty else { break }
            for step in plan {
                if case .bind(let binding) = step { made.insert(binding) }
                try await take(step, topology)
            }
            comparison = topology.compared(with: try await live(virtualHost: topology.virtualHost))
        }
        let remaining = comparison.drift
        // A difference is known by its kind and object, because its words may have changed, such as how many messages a
        // queue holds.
        let left = Set(remaining.map { "\($0.kind) \($0.object)" })
        return Application(
            mended: rows.filter { !left.contains("\($0.kind) \($0.object)") }, remaining: remaining)
    }

    private func take(_ step: TopologyStep, _ topology: BrokerTopology) async throws(ManagementError) {
        let host = topology.virtualHost
        switch step {
        case .set(let policy):
            _ = try await send(.put, ["policies", host, policy.name], topology.body(of: policy))
        case .declareExchange(let exchange):
            _ = try await send(.put, ["exchanges", host, exchange.name], topology.body(of: exchange))
        case .declareQueue(let queue):
            _ = try await send(.put, ["queues", host, queue.name], topology.body(of: queue))
        case .bind(let binding):
            _ = try await send(
                .post, ["bindings", host, "e", binding.source, "q", binding.queue], topology.body(of: binding))
        case .unbind(let binding):
            _ = try await send(
                .delete,
                ["bindings", host, "e", binding.source, "q", binding.destination, binding.propertiesKey])
        case .release(let tier): try await release(tier, host)
        case .clear(let policy):
            _ = try await send(.delete, ["policies", host, policy])
        }
    }

    /// Rejects the messages that wait in a tier, which leads each of them back with its own key. Ends when only
    /// messages that arrived meanwhile can be left.
    private func release(_ tier: String, _ host: String) async throws(ManagementError) {
        // RabbitMQ may requeue messages beyond 32 of one request, because the API's channel is gone before the queue
        // has heard of them all. The API answers with the messages; their bodies are cut off.
        let count = 25
        let body = #"{"count":\#(count),"ackmode":"reject_requeue_false","encoding":"auto","truncate":1}"#
        var released = count
        while released >= count {
            let answer = try await send(.post, ["queues", host, tier, "get"], body)
            released = try read(answer, as: [ManagementAnswers.Nothing].self, "messages").count
        }
    }

    /// Lists a virtual host's objects.
    ///
    /// - Parameters:
    ///   - kind: The kind of objects, as the API names it.
    ///   - virtualHost: The virtual host.
    ///   - type: What an object is.
    /// - Throws: When they cannot be had, or are those of another virtual host.
    func list<Object: ManagementAnswers.Element>(
        _ kind: String, _ virtualHost: String, of type: Object.Type
    ) async throws(ManagementError) -> [Object] {
        let objects: [Object]
        do throws(ManagementError) {
            objects = try await list([kind, virtualHost], of: [Object].self)
        } catch {
            guard error.code == .missingVirtualHost else { throw error }
            let known = try? await list(["vhosts"], of: [ManagementAnswers.VirtualHost].self)
            guard known?.contains(where: { $0.name == virtualHost }) == true else { throw error }
            throw connection.misdirected(kind, "found nothing, although the virtual host \(virtualHost) is there")
        }
        if let other = objects.lazy.compactMap(\.vhost).first(where: { $0 != virtualHost }) {
            throw connection.misdirected(
                kind, "was answered with those of the virtual host \(other), not \(virtualHost)")
        }
        return objects
    }

    /// Asks for something, and reads the answer.
    ///
    /// - Parameters:
    ///   - path: The segments after `/api`.
    ///   - type: What the answer is.
    /// - Throws: When it cannot be had, or is something else.
    func list<Answer: Decodable>(_ path: [String], of type: Answer.Type) async throws(ManagementError) -> Answer {
        try read(try await send(.get, path), as: type, path[0])
    }

    private func read<Answer: Decodable>(
        _ data: Data, as type: Answer.Type, _ words: String
    ) throws(ManagementError) -> Answer {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw ManagementError(
                code: .unexpectedAnswer,
                message: "\(connection.place) answered with something else than \(words): \(connection.prefixQuestion)")
        }
    }

    private func send(
        _ method: ManagementConnection.Method, _ path: [String], _ body: String? = nil
    ) async throws(ManagementError) -> Data {
        try await connection.send(method, path, body: body)
    }
}
