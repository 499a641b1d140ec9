import LocalStack

// Workers are killed, stopped and started.
extension FaultCatalogue {
    /// Faults of this kind.
    static let process: [Fault] = []
}
