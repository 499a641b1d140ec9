/// A device token of a multicast job: where it stands, and what is wrong with it.
struct TokenSlice: Sendable, Equatable {
    /// The first byte in the job's buffer.
    var start: UInt32
    /// Its length in bytes.
    var length: UInt16
    /// What is wrong with it.
    var flaw: TokenFlaw
}
