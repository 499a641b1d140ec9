import LocalStack

// Memory, descriptors, processors and disks run out.
extension FaultCatalogue {
    /// Faults of this kind.
    static let resources: [Fault] = []
}
