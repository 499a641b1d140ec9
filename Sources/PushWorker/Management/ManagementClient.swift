internal import Foundation
package import PushModel

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
        topology.drift(from: try await live(virtualHost: topology.virtualHost))
    }

    /// Makes what is missing, changes policies, and removes stale bindings last.
    ///
    /// Policies come first, so that no queue is ever without its limits; those of tiers that exist wait until the way
    /// back is there to which they lead. Stale bindings go last, so that no key is ever without a queue. Ended half way,
    /// it can be done again.
    /// - Parameter topology: What should be.
    /// - Returns: What was done, and what is left because only deleting could change it.
    /// - Throws: At the first request that fails; what was done until then stays.
    package func apply(_ topology: BrokerTopology) async throws(ManagementError) -> Application {
        let before = try await live(virtualHost: topology.virtualHost)
        let rows = topology.drift(from: before)
        let objects = Set(rows.map(\.object))
        let queues = Set(before.queues.map(\.name))
        let policies = topology.policies.filter { objects.contains("policy \($0.name)") }
        let later = policies.filter { queues.contains($0.name) && topology.isTier(queue: $0.name) }
        for policy in policies where !later.contains(policy) { try await put(policy, topology) }
        let exchanges = Set(before.exchanges.map(\.name))
        for exchange in topology.exchanges where !exchanges.contains(exchange.name) {
            _ = try await send(.put, ["exchanges", topology.virtualHost, exchange.name], topology.body(of: exchange))
        }
        for queue in topology.queues where !queues.contains(queue.name) {
            _ = try await send(.put, ["queues", topology.virtualHost, queue.name], topology.body(of: queue))
        }
        for binding in topology.bindings where objects.contains(binding.description) {
            _ = try await send(
                .post, ["bindings", topology.virtualHost, "e", binding.source, "q", binding.queue],
                topology.body(of: binding))
        }
        for policy in later { try await put(policy, topology) }
        for binding in topology.staleBindings(in: before) {
            _ = try await send(
                .delete,
                [
                    "bindings", topology.virtualHost, "e", binding.source, "q", binding.destination,
                    binding.propertiesKey,
                ])
        }
        let remaining = try await check(topology)
        return Application(mended: rows.filter { !remaining.contains($0) }, remaining: remaining)
    }

    private func put(_ policy: TopologyPolicy, _ topology: BrokerTopology) async throws(ManagementError) {
        _ = try await send(.put, ["policies", topology.virtualHost, policy.name], topology.body(of: policy))
    }

    private func list<Object: Decodable>(
        _ kind: String, _ virtualHost: String, of type: Object.Type
    ) async throws(ManagementError) -> [Object] {
        let data = try await send(.get, [kind, virtualHost])
        do {
            return try JSONDecoder().decode([Object].self, from: data)
        } catch {
            throw ManagementError(
                code: .unexpectedAnswer, message: "\(connection.place) answered with something else than \(kind)")
        }
    }

    private func send(
        _ method: ManagementConnection.Method, _ path: [String], _ body: String? = nil
    ) async throws(ManagementError) -> Data {
        try await connection.send(method, path, body: body)
    }
}
