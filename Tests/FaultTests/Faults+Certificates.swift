extension FaultCatalogue {
    /// Faults of certificates.
    static let certificates: [Fault] = []
}
