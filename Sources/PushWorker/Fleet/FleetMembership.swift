import EventLoop
import WorkerSettings

/// Which other workers live, according to their reports. Pure: time comes in.
///
/// Silence counts only while this worker's own reports come back. During an alarm of the broker nobody can report, and
/// nobody counts as gone.
struct FleetMembership {
    /// How often a worker reports.
    static let reportInterval = Duration.seconds(5)
    /// After how long without a report a worker counts as gone.
    static let lifetime = Duration.seconds(15)
    /// The most workers that are known, this one included; reports of further workers are ignored.
    static let mostWorkers = RouteShare.mostWorkers

    private struct Worker {
        var startedAt: Int64
        var heardAt: MonotonicTime
    }

    private var others: [String: Worker] = [:]

    /// Starts with nobody known.
    init() {}

    /// The names of the others that live.
    var names: Set<String> { Set(others.keys) }

    /// Takes another worker's report.
    ///
    /// - Returns: False for a report that is ignored, because there are too many workers.
    mutating func heard(_ report: FleetReport, now: MonotonicTime) -> Bool {
        let known = others[report.instance]
        // The last report of an earlier worker says nothing about the one that took its name.
        if let known, report.startedAt < known.startedAt { return true }
        guard !report.isLeaving else {
            others[report.instance] = nil
            return true
        }
        guard known != nil || others.count < Self.mostWorkers - 1 else { return false }
        others[report.instance] = Worker(startedAt: report.startedAt, heardAt: now)
        return true
    }

    /// This worker's own report came back. Others that have been silent for `lifetime` are gone.
    mutating func echoed(now: MonotonicTime) {
        others = others.filter { now - $0.value.heardAt < Self.lifetime }
    }
}
