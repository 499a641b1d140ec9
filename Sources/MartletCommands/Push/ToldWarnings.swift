/// Which warnings were told already: each is told once, because the lines of a campaign are alike.
struct ToldWarnings {
    /// The most warnings that are told.
    private static let limit = 100
    private var told: Set<String> = []

    /// Starts with nothing told.
    init() {}

    /// Those of some warnings that are to be told now.
    ///
    /// - Parameter warnings: What was found.
    mutating func first(of warnings: [String]) -> [String] {
        warnings.filter { told.count < Self.limit && told.insert($0).inserted }
    }
}
