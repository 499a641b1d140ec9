import Text

/// Chooses what is done with each new connection: the first rule that matches decides.
struct ConnectionChooser {
    private let rules: [ConnectionRule]
    private let roundTrip: Int
    private let start: Int64
    private var generator: SplitMix64
    private var hits: [Int]

    /// Makes a chooser.
    ///
    /// - Parameters:
    ///   - scenario: The rules and the seed.
    ///   - roundTrip: The round trip of connections whose rule names none, in milliseconds.
    ///   - start: When the scenario began, in milliseconds since 1970.
    init(scenario: Scenario, roundTrip: Int, start: Int64) {
        rules = scenario.connections
        self.roundTrip = roundTrip
        self.start = start
        generator = SplitMix64(seed: scenario.seed ^ 0x636F_6E6E_6563_7473)
        hits = Array(repeating: 0, count: scenario.connections.count)
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - address: The address of the gateway that the client connected to.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What is done with the connection.
    mutating func plan(for address: String, now: Int64) -> ConnectionPlan {
        for (index, rule) in rules.enumerated() {
            if let wanted = rule.address, wanted != address { continue }
            if let window = rule.window, !window.contains(now - start) { continue }
            if let first = rule.first, hits[index] >= first { continue }
            if rule.ratio < 1, generator.fraction() >= rule.ratio { continue }
            hits[index] += 1
            var plan = rule.plan
            if plan.roundTrip == 0 { plan.roundTrip = roundTrip }
            return plan
        }
        var plan = ConnectionPlan()
        plan.roundTrip = roundTrip
        return plan
    }
}
