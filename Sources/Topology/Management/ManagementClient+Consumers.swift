extension ManagementClient {
    /// The queues without a consumer to which an exchange leads one of some keys.
    ///
    /// - Parameters:
    ///   - exchange: A topic exchange.
    ///   - keys: The keys.
    ///   - virtualHost: The virtual host.
    /// - Returns: The queues' names, sorted. A queue whose consumers the broker has not counted yet is left out.
    /// - Throws: When bindings or queues cannot be seen.
    package func queuesWithoutConsumer(
        of exchange: String, keys: Set<String>, virtualHost: String
    ) async throws(ManagementError) -> [String] {
        let bindings = try await list("bindings", virtualHost, of: ManagementAnswers.Binding.self)
        let queues = try await list("queues", virtualHost, of: ManagementAnswers.BusyQueue.self)
        return LiveTopology(exchanges: [], queues: [], bindings: bindings, policies: [], operatorPolicies: [])
            .queuesWithoutConsumer(of: exchange, keys: keys, among: queues.map(BrokerActivity.Queue.init))
    }
}

extension LiveTopology {
    /// The queues without a consumer to which an exchange leads one of some keys.
    ///
    /// - Parameters:
    ///   - exchange: A topic exchange.
    ///   - keys: The keys.
    ///   - queues: The activity of the queues.
    /// - Returns: The queues' names, sorted.
    func queuesWithoutConsumer(
        of exchange: String, keys: Set<String>, among queues: [BrokerActivity.Queue]
    ) -> [String] {
        let bound = Set(
            bindings.filter { binding in
                binding.isToQueue && binding.source == exchange
                    && keys.contains { Self.topic(binding.routingKey, matches: $0) }
            }.map(\.destination))
        return queues.filter { $0.consumers == 0 && bound.contains($0.name) }.map(\.name).sorted()
    }

    /// Whether a topic exchange leads a key through a binding. `*` stands for one word of the key, `#` for any number
    /// of words, including none.
    ///
    /// [Topic exchanges](https://www.rabbitmq.com/tutorials/amqp-concepts#exchange-topic)
    static func topic(_ pattern: String, matches key: String) -> Bool {
        let words = key.split(separator: ".", omittingEmptySubsequences: false)
        // Whether the parts of the pattern so far match the first words of the key, by the number of these words.
        var isMatch = [Bool](repeating: false, count: words.count + 1)
        isMatch[0] = true
        for part in pattern.split(separator: ".", omittingEmptySubsequences: false) {
            var next = [Bool](repeating: false, count: isMatch.count)
            if part == "#" {
                let first = isMatch.firstIndex(of: true) ?? isMatch.count
                for index in first..<isMatch.count { next[index] = true }
            } else {
                for (index, word) in words.enumerated() where isMatch[index] && (part == "*" || part == word) {
                    next[index + 1] = true
                }
            }
            isMatch = next
        }
        return isMatch[words.count]
    }
}
