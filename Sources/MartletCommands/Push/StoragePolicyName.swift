import ArgumentParser

/// What a broadcast channel keeps for those who start to listen later.
enum StoragePolicyName: String, CaseIterable, ExpressibleByArgument {
    /// Nothing.
    case none
    /// The most recent message.
    case mostRecent = "most-recent"

    /// Apple's number for it.
    var number: Int64 { self == .none ? 0 : 1 }
}
