/// A refusal as the failure of a check.
struct BroadcastRefusal: Error, Equatable {
    /// The refusal.
    var refusal: Refusal

    /// Wraps a refusal.
    ///
    /// - Parameter refusal: The refusal.
    init(_ refusal: Refusal) { self.refusal = refusal }
}
