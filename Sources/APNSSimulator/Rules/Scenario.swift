/// A script for the simulator: which pushes get which verdict.
///
/// Rules are tried in order, and the first that matches decides; a push that none matches is accepted.
package struct Scenario: Equatable, Sendable {
    /// One rule.
    package struct Rule: Equatable, Sendable {
        /// What the ratio is thrown for.
        package enum Draw: String, Equatable, Sendable, CaseIterable {
            /// Once per device: the same devices are hit each time, whatever the order of pushes.
            case device
            /// For every push anew, from a generator that the seed starts.
            case push
        }

        /// A name for people.
        package var name: String
        /// The first digits of the device tokens meant, lower case; empty for all.
        package var tokenPrefix: String
        /// The topic meant; nil for all.
        package var topic: String?
        /// The share of what matches that is really hit, 0 to 1.
        package var ratio: Double
        /// What the ratio is thrown for.
        package var draw: Draw
        /// The verdicts.
        package var sequence: VerdictSequence
        /// The address of the gateway that the client connected to; nil for all.
        package var address: String?
        /// Only pushes to devices that got more than so many in so much time; nil for all.
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
        ///   - draw: What the ratio is thrown for.
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

    /// Where the randomness starts.
    package var seed: UInt64

    /// The rules in order.
    package var rules: [Rule]

    /// The rules for connections in order.
    package var connections: [ConnectionRule] = []

    /// How much the gateway puts up with; nil for what the configuration says.
    package var limits: GatewayLimits?

    /// Further addresses to listen at, on the same port; counts at the start only.
    package var addresses: [String] = []

    /// Makes a scenario.
    ///
    /// - Parameters:
    ///   - seed: Where the randomness starts.
    ///   - rules: The rules in order.
    package init(seed: UInt64 = 1, rules: [Rule] = []) {
        self.seed = seed
        self.rules = rules
    }
}
