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
