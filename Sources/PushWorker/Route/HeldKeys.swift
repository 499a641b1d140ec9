/// The keys by which the jobs of a lane's present channel generation are recognised.
struct HeldKeys {
    /// The keys of all jobs that are worked on, or were settled lately.
    var all: Set<RedeliveryKey> = []
    /// The keys of jobs that may be the first of two copies.
    var firsts: Set<RedeliveryKey> = []
    /// The keys of copies about which the lane itself has asked the others.
    var askedCopies: Set<RedeliveryKey> = []
}
