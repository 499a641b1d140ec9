/// Decides when to warn that a certificate expires: once each at 30, 14, 7 and 1 days before its end, and once at its
/// end.
///
/// Pure: times in seconds come in. A certificate that is found late is reported for the stage that it has reached, and
/// not for the stages before.
struct CredentialExpiryStateMachine: Sendable {
    /// How near the end is.
    enum Stage: Int, Comparable, CaseIterable, Sendable {
        case far
        case month
        case fortnight
        case week
        case day
        case over

        /// The most time left in this stage, in seconds.
        var limit: Int64 {
            switch self {
            case .far: .max
            case .month: 30 * 86_400
            case .fortnight: 14 * 86_400
            case .week: 7 * 86_400
            case .day: 86_400
            case .over: 0
            }
        }

        static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    private var reached = Stage.far

    /// A watch that has not warned yet.
    init() {}

    /// Looks at the time that is left.
    ///
    /// - Parameters:
    ///   - notAfter: The end, in seconds since 1970. A later end than before makes the warnings begin again.
    ///   - now: Seconds since 1970.
    /// - Returns: The stage, once, when it is reached; nil otherwise.
    mutating func advance(notAfter: Int64, now: Int64) -> Stage? {
        let left = notAfter - now
        let stage = Stage.allCases.last { left <= $0.limit } ?? .far
        defer { reached = stage }
        return stage > reached ? stage : nil
    }
}
