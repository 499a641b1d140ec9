import Foundation
package import PushModel
import Text

/// Compares and changes a broker's objects through RabbitMQ's management API: what `martlet topology check` and
/// `apply` do. Everything is done object by object, because only administrators may send whole definitions.
package struct ManagementClient: Sendable {
    private let connection: ManagementConnection

    /// What applying a topology did.
    package struct Application: Sendable {
        /// The differences that were mended, in the order of doing.
        package let mended: [TopologyDrift]
        /// What is still different: objects that only deleting could change, or that belong to nobody any more.
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

    /// The same in parts, with the user.
    package var location: ManagementPlace { connection.location }

    /// The usual management address of a broker: its host and login with port 15672, or 15671 with TLS.
    ///
    /// - Parameter uri: The broker's AMQP URI.
    /// - Returns: The address, or nil when the URI is malformed.
    package static func usualAddress(of uri: SecretText) -> SecretText? {
        guard let parts = try? AddressText(uri.revealed) else { return nil }
        let isEncrypted = parts.scheme == "amqps"
        let login = parts.userInfo.map { "\($0)@" } ?? ""
        let place = "\(parts.bracketedHost):\(isEncrypted ? 15671 : 15672)"
        return SecretText("\(isEncrypted ? "https" : "http")://\(login)\(place)")
    }

    /// What a virtual host holds.
    package func live(virtualHost: String) async throws(ManagementError) -> LiveTopology {
        LiveTopology(
            exchanges: try await list("exchanges", virtualHost, of: ManagementAnswers.Exchange.self),
            queues: try await list("queues", virtualHost, of: ManagementAnswers.Queue.self),
            bindings: try await list("bindings", virtualHost, of: ManagementAnswers.Binding.self),
            policies: try await list("policies", virtualHost, of: ManagementAnswers.Policy.self))
    }

    /// The differences between a topology and what its virtual host holds.
    package func check(_ topology: BrokerTopology) async throws(ManagementError) -> [TopologyDrift] {
        topology.compared(with: try await live(virtualHost: topology.virtualHost)).drift
    }

    /// Makes what is missing, changes policies, moves bindings, and removes what is stale last.
    ///
    /// Takes the steps of ``TopologyComparison/plan(prunes:)``. Ended half way, it can be done again.
    /// - Parameters:
    ///   - topology: What should be.
    ///   - prunes: Whether bindings go, too, that lead to queues of routes which the topology does not have.
    /// - Returns: What was done, and what is left because only deleting could change it.
    /// - Throws: At the first request that fails; what was done until then stays.
    package func apply(
        _ topology: BrokerTopology, prunes: Bool = false
    ) async throws(ManagementError) -> Application {
        var comparison = topology.compared(with: try await live(virtualHost: topology.virtualHost))
        let rows = comparison.drift
        // What the first plan leaves the second removes; a third is for what changed under our hands.
        for _ in 0..<3 {
            let plan = comparison.plan(prunes: prunes)
            guard !plan.isEmpty else { break }
            for step in plan { try await take(step, topology) }
            comparison = topology.compared(with: try await live(virtualHost: topology.virtualHost))
        }
        let remaining = comparison.drift
        // The words of a difference may have changed, such as how many messages a queue holds.
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

    /// Rejects what waits in a tier, which leads it back with its own key, until only what arrives meanwhile is left.
    private func release(_ tier: String, _ host: String) async throws(ManagementError) {
        // Of more than 32 at a time RabbitMQ may requeue the others, because the API's channel is gone before the queue
        // has heard of them all. The API answers with the messages, bodies cut off.
        let count = 25
        let body = #"{"count":\#(count),"ackmode":"reject_requeue_false","encoding":"auto","truncate":1}"#
        var released = count
        while released >= count {
            let answer = try await send(.post, ["queues", host, tier, "get"], body)
            released = (try? JSONDecoder().decode([ManagementAnswers.Nothing].self, from: answer))?.count ?? 0
        }
    }

    private func list<Object: Decodable>(
        _ kind: String, _ virtualHost: String, of type: Object.Type
    ) async throws(ManagementError) -> [Object] {
        try await list([kind, virtualHost], of: [Object].self)
    }

    /// Asks for something and reads it.
    ///
    /// - Parameters:
    ///   - path: The segments after `/api`.
    ///   - type: What the answer is.
    /// - Throws: When it cannot be had, or is something else.
    func list<Answer: Decodable>(_ path: [String], of type: Answer.Type) async throws(ManagementError) -> Answer {
        let data = try await send(.get, path)
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw ManagementError(
                code: .unexpectedAnswer, message: "\(connection.place) answered with something else than \(path[0])")
        }
    }

    private func send(
        _ method: ManagementConnection.Method, _ path: [String], _ body: String? = nil
    ) async throws(ManagementError) -> Data {
        try await connection.send(method, path, body: body)
    }
}
