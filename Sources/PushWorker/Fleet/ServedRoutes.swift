/// Which of the configured routes a worker serves.
struct ServedRoutes: Equatable, Sendable {
    /// Every route.
    static let all = ServedRoutes(positions: nil)

    /// Positions in the configuration; nil for all.
    private let positions: Set<Int>?

    private init(positions: Set<Int>?) { self.positions = positions }

    /// Some routes, by their positions in the configuration.
    init(_ positions: some Sequence<Int>) { self.init(positions: Set(positions)) }

    /// Whether a route is served.
    ///
    /// - Parameter position: Its position in the configuration; nil for the route that answers jobs nobody claims, which
    ///   every worker serves.
    func contains(_ position: Int?) -> Bool {
        guard let positions, let position else { return true }
        return positions.contains(position)
    }
}
