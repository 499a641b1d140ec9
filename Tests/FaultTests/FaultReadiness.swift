/// What `/readyz` says.
struct FaultReadiness: Decodable, Sendable {
    /// A route of the worker.
    struct Route: Decodable, Sendable {
        /// Its name.
        var name: String
        /// `ready` when it is served.
        var state: String
        /// Why it is not.
        var reason: String?
    }

    /// How the worker knows what operators ask for.
    struct Control: Decodable, Sendable {
        /// Why it cannot read that; nil while it can.
        var detail: String?
    }

    /// Why the worker is not ready; empty when it is.
    var reasons: [String]
    /// Its routes.
    var routes: [Route]
    /// How it knows what operators ask for.
    var control: Control?
}
