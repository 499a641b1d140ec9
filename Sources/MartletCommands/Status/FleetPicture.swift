import PushWorker
import Text
import WorkerSettings

/// The fleet as the workers' reports show it: a pure value that reports are added to.
struct FleetPicture: Equatable {
    /// The condition of a worker.
    enum Condition: String {
        /// It does its work.
        case ready
        /// It runs, but cannot do its work.
        case notReady = "not ready"
        /// It stops in good order.
        case draining
        /// Its reports ended without the last one, which would say that it stops.
        case silent
    }

    /// One worker.
    struct Worker: Equatable {
        /// Its latest report.
        var report: WorkerReport
        /// When it reported, in milliseconds since 1970; no later than the report was heard, whatever it says.
        var reportedAt: Int64
        /// Whether the report says that it is from the future: its worker's clock is wrong, or somebody else wrote it.
        var isAhead: Bool
        /// Notifications that APNs accepted per second, between its two latest reports. Nil before its second report,
        /// where the two are less than 1 s apart, and after a restart.
        var acceptedPerSecond: Double?
        /// Notifications that APNs accepted per second, for each route.
        var routesPerSecond: [String: Double] = [:]

        /// The worker's condition.
        ///
        /// - Parameter now: The time in milliseconds since 1970.
        func condition(at now: Int64) -> Condition {
            if report.isDraining { return .draining }
            if now -| reportedAt > FleetPicture.patience { return .silent }
            return report.reasons.isEmpty ? .ready : .notReady
        }
    }

    /// One route, as all workers that serve it see it.
    struct Route: Equatable {
        /// Its name.
        var name: String
        /// The best of its states: workers in a worse state leave their jobs to those.
        var state: String
        /// Why it is not ready, or what hinders it although it is: the first reason of its workers in the best state.
        var reason: String?
        /// Whether that reason is that the broker does not take what it publishes.
        var isRefused = false
        /// Whether the worker that gives that reason has no connection to APNs.
        var isConnecting = false
        /// The limits that keep it from pushing more, of all its workers, each limit once.
        var limits: [String] = []
        /// The workers that serve it.
        var workers: [String] = []
        /// The workers in which it is not ready, although it is ready in another one.
        var troubled: [String] = []
        /// Notifications that APNs accepted per second; nil where no worker's rate is known yet.
        var acceptedPerSecond: Double?
        /// Requests without an answer.
        var inFlight = 0
        /// Notifications that wait for a stream.
        var waiting = 0
        /// Usable connections to APNs.
        var connections = 0
        /// Whether results say `hold` instead of `drop_token`.
        var holdsTokens = false
    }

    /// How long a worker may send no report before it is silent, in milliseconds: three reports and some seconds.
    static let patience: Int64 = 35_000
    /// How far the clocks of machines may be apart, in milliseconds.
    private static let skew: Int64 = 5_000
    /// How long a silent worker is shown, in milliseconds. ``FleetReader`` reads the reports of this time.
    static let memory: Int64 = 300_000
    /// The states of a route, best first, as the worker orders them.
    private static let states = RouteState.allCases.map(\.rawValue)

    private var known: [String: Worker] = [:]

    /// Starts without any worker.
    init() {}

    /// Takes a report.
    ///
    /// - Parameters:
    ///   - report: The report. It is ignored where a later report of its worker is known. A report from the future is
    ///     no later than any other.
    ///   - now: The time in milliseconds since 1970.
    mutating func heard(_ report: WorkerReport, at now: Int64) {
        var worker = Worker(
            report: report, reportedAt: min(report.sentAt, now),
            isAhead: max(report.startedAt, report.sentAt) > now +| Self.skew)
        guard let earlier = known[report.instance] else {
            if known.count < RouteShare.mostWorkers { known[report.instance] = worker }
            return
        }
        guard
            earlier.isAhead
                || (report.startedAt, report.sentAt) > (earlier.report.startedAt, earlier.report.sentAt)
        else { return }
        let elapsed = Double(report.sentAt -| earlier.report.sentAt) / 1_000
        // A rate over less than a second says little. After another start the counts begin at zero.
        if report.startedAt == earlier.report.startedAt, elapsed >= 1 {
            worker.acceptedPerSecond = Double(report.accepted - earlier.report.accepted) / elapsed
            let before = Dictionary(earlier.report.routes.map { ($0.name, $0.accepted) }) { first, _ in first }
            for route in report.routes {
                if let count = before[route.name] {
                    worker.routesPerSecond[route.name] = Double(route.accepted - count) / elapsed
                }
            }
        }
        known[report.instance] = worker
    }

    /// The workers by name: those that report, those that stop, and those that became silent recently.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    func workers(at now: Int64) -> [Worker] {
        known.values.filter { worker in
            let age = now -| worker.reportedAt
            return age <= (worker.report.isDraining ? Self.patience : Self.memory)
        }.sorted { $0.report.instance < $1.report.instance }
    }

    /// How many workers stopped recently, and are shown no more: their last report said that they drain.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    func left(at now: Int64) -> Int {
        known.values.count { worker in
            let age = now -| worker.reportedAt
            return worker.report.isDraining && age > Self.patience && age <= Self.memory
        }
    }

    /// The workers that are ready or not ready: neither draining nor silent.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    func live(at now: Int64) -> [Worker] {
        workers(at: now).filter { [.ready, .notReady].contains($0.condition(at: now)) }
    }

    /// The routes by name, as the live workers see them.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    func routes(at now: Int64) -> [Route] {
        var routes: [String: [(worker: Worker, route: WorkerReport.Route)]] = [:]
        for worker in live(at: now) {
            for route in worker.report.routes { routes[route.name, default: []].append((worker, route)) }
        }
        return routes.map { Self.join($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    private static func join(
        _ name: String, _ parts: [(worker: Worker, route: WorkerReport.Route)]
    ) -> Route {
        func rank(_ state: String) -> Int { states.firstIndex(of: state) ?? states.count }
        let best = parts.min { rank($0.route.state) < rank($1.route.state) }?.route
        let ready = RouteState.ready.rawValue
        let speaker = parts.first { $0.route.state == best?.state && $0.route.reason != nil }?.route
        var joined = Route(name: name, state: best?.state ?? "", reason: speaker?.reason)
        joined.isRefused = speaker?.isRefused ?? false
        joined.isConnecting = speaker?.connections == 0
        for (worker, route) in parts {
            joined.workers.append(worker.report.instance)
            if best?.state == ready, ![ready, RouteState.starting.rawValue].contains(route.state) {
                joined.troubled.append(worker.report.instance)
            }
            if !joined.limits.contains(route.limitedBy) { joined.limits.append(route.limitedBy) }
            if let rate = worker.routesPerSecond[name] {
                joined.acceptedPerSecond = (joined.acceptedPerSecond ?? 0) + rate
            }
            joined.inFlight += route.inFlight
            joined.waiting += route.waiting
            joined.connections += route.connections
            joined.holdsTokens = joined.holdsTokens || route.holdsTokens
        }
        let nothing = RouteLimit.nothing.rawValue
        joined.limits = joined.limits.filter { $0 != nothing }.sorted()
        return joined
    }

    /// The failed notifications since the workers' start by outcome and reason, most frequent first.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    func failures(at now: Int64) -> [WorkerReport.Failure] {
        var counts: [String: WorkerReport.Failure] = [:]
        for failure in workers(at: now).flatMap(\.report.failures) {
            let key = "\(failure.outcome) \(failure.reason ?? "")"
            var sum = counts[key] ?? WorkerReport.Failure(outcome: failure.outcome, reason: failure.reason, count: 0)
            sum.count += failure.count
            counts[key] = sum
        }
        return counts.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.value)
    }
}
