import Rig

/// Chooses the results that a command shows. An empty list lets every value pass.
struct ResultFilter: Equatable {
    /// Outcomes, for example `rejected`.
    var outcomes: [String] = []
    /// Reasons, for example `BadTopic`.
    var reasons: [String] = []
    /// Topics with their suffixes.
    var topics: [String] = []
    /// `production` or `development`.
    var environments: [String] = []

    /// Whether every result passes.
    var isEmpty: Bool { self == ResultFilter() }

    /// Whether a result passes.
    ///
    /// - Parameter record: The result.
    func passes(_ record: ResultRecord) -> Bool {
        Self.admits(outcomes, record.outcome) && Self.admits(reasons, record.reason)
            && Self.admits(topics, record.topic) && Self.admits(environments, record.environment)
    }

    /// The binding keys that bring a tap queue these results, and as few others as possible.
    ///
    /// No key has a reason, so reasons are filtered later. A dot in a topic separates words of the pattern, so a key
    /// has the whole topic or `#`.
    var bindingKeys: [String] {
        guard !(outcomes.isEmpty && topics.isEmpty && environments.isEmpty) else { return ["#"] }
        var keys: [String] = []
        for outcome in outcomes.isEmpty ? ["*"] : outcomes {
            for environment in environments.isEmpty ? ["*"] : environments {
                for topic in topics.isEmpty ? ["#"] : topics {
                    keys.append("\(outcome).\(environment).\(topic)")
                }
            }
        }
        return keys
    }

    private static func admits(_ wanted: [String], _ value: String?) -> Bool {
        wanted.isEmpty || value.map(wanted.contains) ?? false
    }
}
