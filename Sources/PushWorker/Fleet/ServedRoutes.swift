/// Which of its routes a worker serves.
struct ServedRoutes: Equatable, Sendable {
    /// Every route.
    static let all = ServedRoutes(numbers: nil)

    /// The routes' numbers; nil for all.
    private let numbers: Set<Int>?

    private init(numbers: Set<Int>?) { self.numbers = numbers }

    /// Some routes, by their numbers.
    init(_ numbers: some Sequence<Int>) { self.init(numbers: Set(numbers)) }

    /// Whether a route is served.
    ///
    /// - Parameter number: Its number; nil for the route that answers jobs nobody claims, which every worker serves.
    func contains(_ number: Int?) -> Bool {
        guard let numbers, let number else { return true }
        return numbers.contains(number)
    }
}
