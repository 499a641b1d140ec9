/// Decides from repeated looks at a lane's turns whether the lane is stuck.
///
/// It counts looks instead of time. While the whole process is stopped, or the machine sleeps, the watchdog does not
/// look either. Pure.
struct LaneWatch {
    /// What a look showed.
    enum Finding: Equatable {
        /// The lane turns, or it has not been still for long.
        case fine
        /// It has not turned for this many looks. Found again after each further `limit` looks.
        case stuck(looks: Int)
        /// It turns again after it was stuck.
        case recovered
    }

    /// After how many looks without a turn a lane is stuck. A lane without work turns once a second. The longest thing
    /// that a lane does on purpose is closing two connections, at two seconds each.
    static let limit = 10

    private var lastTurns: UInt64?
    private var still = 0

    /// A watch that has seen nothing.
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
