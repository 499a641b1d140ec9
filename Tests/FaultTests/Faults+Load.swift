import LocalStack

// Many workers, many jobs, a long time.
extension FaultCatalogue {
    /// Faults of this kind.
    static let load: [Fault] = []
}
