/// A script for the simulator: which pushes get which verdict.
///
/// Rules are tried in order, and the first that matches decides; a push that none matches is accepted.
package struct Scenario: Equatable, Sendable {
    /// One rule.
    package struct Rule: Equatable, Sendable {
        /// How often the ratio is drawn.
        package enum Draw: String, Equatable, Sendable, CaseIterable {
            /// Once per device: the rule hits the same devices each time, in any order of pushes.
            case device
            /// For each push anew, from a generator that starts with the scenario's seed.
            case push
        }

        /// A name for people.
        package var name: String
        /// The first digits of the device tokens meant, lower case; empty for all.
        package var tokenPrefix: String
        /// The topic meant; nil for all.
        package var topic: String?
        /// The share of the matching pushes (or devices, see ``draw``) that the rule hits, 0 to 1.
        package var ratio: Double
        /// How often the ratio is drawn.
        package var draw: Draw
        /// The verdicts.
        package var sequence: VerdictSequence
        /// The address of the gateway that the client connected to; nil for all.
        package var address: String?
        /// The rule hits only pushes beyond this rate of their device; nil for all pushes.
        package var beyond: GatewayLimits.Rate?
        /// When the rule holds; nil for always.
        package var window: TimeWindow?

        /// Makes a rule.
        ///
        /// - Parameters:
        ///   - name: A name for people.
        ///   - tokenPrefix: The first digits of the device tokens meant.
        ///   - topic: The topic meant.
        ///   - ratio: The share that is hit.
        ///   - draw: How often the ratio is drawn.
        ///   - sequence: The verdicts.
        package init(
            name: String = "", tokenPrefix: String = "", topic: String? = nil, ratio: Double = 1, draw: Draw = .device,
            sequence: VerdictSequence
        ) {
            self.name = name
            self.tokenPrefix = tokenPrefix.lowercased()
            self.topic = topic
            self.ratio = ratio
            self.draw = draw
            self.sequence = sequence
        }
    }

    /// The seed of all random choices.
    package var seed: UInt64

    /// The rules in order.
    package var rules: [Rule]

    /// The rules for connections in order.
    package var connections: [ConnectionRule] = []

    /// What the gateway tolerates; nil for the limits of the configuration.
    package var limits: GatewayLimits?

    /// Further addresses to listen at, on the same port. They are read only when the simulator starts.
    package var addresses: [String] = []

    /// Makes a scenario.
    ///
    /// - Parameters:
    ///   - seed: The seed of all random choices.
    ///   - rules: The rules in order.
    package init(seed: UInt64 = 1, rules: [Rule] = []) {
        self.seed = seed
        self.rules = rules
    }
}
