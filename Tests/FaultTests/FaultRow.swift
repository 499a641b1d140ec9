/// One line of the table: what a run of a fault came to.
struct FaultRow: Encodable, Sendable {
    /// The fault's numbers.
    var number: String
    /// What went wrong.
    var fault: String
    /// Notifications the broker was confirmed to have.
    var jobs = 0
    /// Workers killed.
    var kills = 0
    /// Notifications lost.
    var lost = 0
    /// Pushes beyond the first that a redelivery or a repeated attempt explains.
    var twice = 0
    /// Notifications that workers held just before the fault.
    var held = 0
    /// Seconds from the end of the fault until all workers were ready, the median; nil where that is not asked.
    var recovery: Double?
    /// How often that was measured.
    var recoveries = 0
    /// The most memory a worker had, in MiB.
    var memory = 0
    /// Seconds the run took, its broker's start included.
    var seconds = 0.0
    /// What chance was drawn from.
    var seed = FaultSelection.seed
    /// More figures, in words.
    var figures: [String] = []
    /// What must not be; empty when all is well.
    var problems: [String] = []
}
