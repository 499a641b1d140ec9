import Foundation

extension FaultWorker {
    /// What `/readyz` says; blocks for a moment.
    func readiness() throws -> FaultReadiness {
        try JSONDecoder().decode(FaultReadiness.self, from: Data(try get("/readyz").body.utf8))
    }

    /// Whether `/readyz` says that a route is not served; blocks for a moment.
    func lacks(route name: String) throws -> Bool {
        try readiness().routes.contains { $0.name == name && $0.state != "ready" }
    }

    /// How many connections to the broker it has opened.
    var brokerConnects: Int { logLines(with: "connected to the broker") }

    /// How many lines of its log contain something.
    func logLines(with text: String) -> Int {
        log.split(separator: "\n").count { $0.contains(text) }
    }
}
