/// A policy for one object, or for all queues of a kind: everything about them that can be tuned.
///
/// The queues of routes share their policies. The broker compares each policy with each queue whenever a policy
/// changes. When each queue had a policy of its own, this work was quadratic.
package struct TopologyPolicy: Sendable, Equatable {
    /// What a policy applies to.
    package enum Scope: String, Sendable {
        /// All queues or all exchanges whose name matches.
        case queues, exchanges
    }

    /// One setting.
    package struct Setting: Sendable, Equatable {
        /// The policy key, such as `message-ttl`.
        package let key: String
        /// Its value.
        package let value: TopologyValue
    }

    /// The name: that of its object, or that of its kind of queue with `*` in place of the varying part.
    package let name: String
    /// The regular expression that matches the names of its objects.
    package let pattern: String
    /// What it applies to.
    package let scope: Scope
    /// The priority. Among the policies that match an object, the highest wins.
    package let priority: Int
    /// The settings, in the order in which they are written.
    package let settings: [Setting]

    /// The policy of a tier while copies that came without it are led back.
    var unfinished: TopologyPolicy {
        TopologyPolicy(
            name: name, pattern: pattern, scope: scope, priority: TopologyBuilder.unfinishedPriority,
            settings: settings)
    }

    /// The regular expression that matches one object alone.
    static func pattern(matching name: String) -> String {
        "^\(name.split(separator: ".").joined(separator: "\\."))$"
    }
}

extension TopologyPolicy {
    /// How a broker's policy of the same name differs from this one.
    ///
    /// - Parameter found: The broker's.
    /// - Returns: The differences in words; empty for the same policy.
    func differences(from found: LiveTopology.Policy) -> [String] {
        var details: [String] = []
        if found.pattern != pattern {
            details.append("pattern is \(found.pattern), should be \(pattern)")
        }
        if found.scope != scope.rawValue {
            details.append("applies to \(found.scope), should be \(scope.rawValue)")
        }
        if found.priority != priority {
            details.append("priority is \(found.priority), should be \(priority)")
        }
        for setting in settings {
            guard let value = found.settings[setting.key] else {
                details.append("\(setting.key) is not set, should be \(setting.value.words)")
                continue
            }
            if value != setting.value {
                details.append("\(setting.key) is \(value.words), should be \(setting.value.words)")
            }
        }
        let known = Set(settings.map(\.key))
        for key in found.settings.keys.sorted() where !known.contains(key) {
            details.append("\(key) is set, should not be")
        }
        return details
    }
}
