import LocalStack

// The broker's objects are missing, changed or deleted.
extension FaultCatalogue {
    /// Faults of queues, exchanges and policies.
    static let topology: [Fault] = []
}
