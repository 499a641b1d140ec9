/// Decides from repeated looks at a lane's turns whether it is stuck.
///
/// It counts looks and not time: where the whole process was stopped, or the machine slept, the watchdog did not look
/// either. Pure.
struct LaneWatch {
    /// What a look showed.
    enum Finding: Equatable {
        /// It turns, or has not been still for long.
        case fine
        /// It has not turned for this many looks; found again after as many.
        case stuck(looks: Int)
        /// It turns again after it was stuck.
        case recovered
    }

    /// After how many looks without a turn a lane is stuck. A lane that waits for nothing turns twice a second, and the
    /// longest thing it does on purpose is closing two connections, at two seconds each.
    static let limit = 10

    private var lastTurns: UInt64?
    private var still = 0

    /// Nothing was seen yet.
    init() {}

    /// Looks at a lane.
    ///
    /// - Parameter turns: How many turns it has begun.
    mutating func look(turns: UInt64) -> Finding {
        guard turns == lastTurns else {
            lastTurns = turns
            defer { still = 0 }
            return still >= Self.limit ? .recovered : .fine
        }
        still += 1
        return still.isMultiple(of: Self.limit) ? .stuck(looks: still) : .fine
    }
}
