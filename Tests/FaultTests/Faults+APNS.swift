import LocalStack

// APNs is slow, refuses, leaves or lies.
extension FaultCatalogue {
    /// Faults of this kind.
    static let apns: [Fault] = []
}
