import LocalStack

// Results cannot be published.
extension FaultCatalogue {
    /// Faults of this kind.
    static let results: [Fault] = []
}
