import LocalStack

// Logins, certificates and names fail.
extension FaultCatalogue {
    /// Faults of this kind.
    static let trust: [Fault] = []
}
