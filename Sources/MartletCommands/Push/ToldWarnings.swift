/// Remembers the warnings that were printed. Each is printed once, because the lines of a campaign are alike.
struct ToldWarnings {
    /// The most warnings that are printed.
    private static let limit = 100
    private var told: Set<String> = []

    /// Starts without any warning.
    init() {}

    /// The warnings that are new and to be printed now.
    ///
    /// - Parameter warnings: The warnings of one line.
    mutating func first(of warnings: [String]) -> [String] {
        warnings.filter { told.count < Self.limit && told.insert($0).inserted }
    }
}
