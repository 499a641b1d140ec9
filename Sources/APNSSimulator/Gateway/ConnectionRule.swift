/// One of a scenario's rules for connections.
package struct ConnectionRule: Equatable, Sendable {
    /// A name for people.
    package var name = ""
    /// The address of the gateway that the client connected to; nil for all.
    package var address: String?
    /// The share of the matching connections that the rule hits, 0 to 1.
    package var ratio = 1.0
    /// How many connections the rule hits at most; nil for any number.
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
