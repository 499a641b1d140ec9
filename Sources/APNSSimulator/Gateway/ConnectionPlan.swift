/// What the gateway does with a connection as a whole, whatever is pushed on it.
package struct ConnectionPlan: Equatable, Sendable {
    /// A goodbye that comes by itself.
    package struct Goodbye: Equatable, Sendable {
        /// After how many pushes; nil for not by their number.
        package var pushes: Int?
        /// After how many milliseconds; nil for not by time.
        package var milliseconds: Int64?
        /// The frame, always one that lets open streams end.
        package var frame: Verdict.GoAway

        /// Describes a goodbye.
        ///
        /// - Parameters:
        ///   - pushes: After how many pushes.
        ///   - milliseconds: After how many milliseconds.
        ///   - frame: The frame.
        package init(pushes: Int? = nil, milliseconds: Int64? = nil, frame: Verdict.GoAway) {
            self.pushes = pushes
            self.milliseconds = milliseconds
            self.frame = frame
        }
    }

    /// How long bytes take to the client and back, in milliseconds.
    package var roundTrip = 0
    /// Whether the connection is closed as soon as it is accepted.
    package var isRefused = false
    /// Whether nothing is ever read from it or written to it.
    package var isMute = false
    /// The server certificate it is shown; nil for the one in force.
    package var certificate: ServerCertificateKind?
    /// The concurrent streams announced all the time; nil for the configuration's.
    package var streams: UInt32?
    /// How long it may be idle, in milliseconds; nil for the limits'.
    package var idleTimeout: Int64?
    /// When the gateway says goodbye by itself; nil for never.
    package var goodbye: Goodbye?
    /// After how many milliseconds it is cut without a word; nil for never.
    package var closeAfter: Int64?

    /// Starts without trouble.
    package init() {}
}

/// One of a scenario's rules for connections.
package struct ConnectionRule: Equatable, Sendable {
    /// A name for people.
    package var name = ""
    /// The address of the gateway that the client connected to; nil for all.
    package var address: String?
    /// The share of what matches that is really hit, 0 to 1.
    package var ratio = 1.0
    /// Only so many connections, the first that match; nil for all.
    package var first: Int?
    /// When the rule holds; nil for always.
    package var window: TimeWindow?
    /// What is done with a connection.
    package var plan: ConnectionPlan

    /// Makes a rule for all connections.
    ///
    /// - Parameter plan: What is done with a connection.
    package init(_ plan: ConnectionPlan = ConnectionPlan()) { self.plan = plan }
}

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
