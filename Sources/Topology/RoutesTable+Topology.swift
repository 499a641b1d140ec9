package import PushModel

extension RoutesTable {
    /// Makes the table; the routes keep their order.
    ///
    /// - Parameter routes: The routes. No two may claim the same environment and topic.
    package init(routes: [TopologyRoute]) {
        self.init(claims: routes.map { ($0.environment, $0.topics) })
    }
}
