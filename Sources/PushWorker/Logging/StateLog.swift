import EventLoop
import Logging

/// Decides from looks at a worker's readiness what the log tells about its state. Pure: time comes in.
///
/// The log tells when a worker is not ready, when a route is parked, when the broker does not take a route's
/// publications, and when something else answers in the place of APNs. It tells each trouble once it has lasted for `patience`, again each minute, and at its end, with its
/// length. Hosts that cannot be reached are the matter of ``OutageLog``.
struct StateLog {
    /// How long a trouble lasts before it is told. Connections that are opened again need less time.
    static let patience = Duration.seconds(3)
    /// How often a trouble that goes on is told again.
    static let reminderInterval = Duration.seconds(60)

    /// A line to log.
    struct Line: Equatable {
        /// How much it matters.
        var level: Logger.Level
        /// A constant sentence.
        var message: String
        /// The route that it is about; nil for the worker.
        var route: String?
        /// Why, or how long it lasted; nil without either.
        var detail: String?
    }

    private enum Subject: Hashable {
        case worker
        case route(String)
    }

    private struct Trouble {
        var kind: WorkerReadiness.Hindrance
        var since: MonotonicTime
        var toldAt: MonotonicTime?
    }

    private var troubles: [Subject: Trouble] = [:]
    private var wasReady = false

    /// Looks at the worker.
    ///
    /// - Parameters:
    ///   - readiness: How it is doing.
    ///   - now: The time.
    /// - Returns: The news. A worker that drains has no news here, because draining has log lines of its own.
    mutating func look(_ readiness: WorkerReadiness, now: MonotonicTime) -> [Line] {
        guard !readiness.reasons.contains(WorkerReadiness.draining) else { return [] }
        var lines: [Line] = []
        let why = readiness.isReady ? nil : readiness.reasons.joined(separator: "; ")
        var worker = note(.worker, .unready, why, now: now)
        if readiness.isReady, !wasReady {
            wasReady = true
            worker = Line(level: .notice, message: "the worker is ready", detail: worker?.detail)
        }
        if let worker { lines.append(worker) }
        for route in readiness.routes {
            if let line = note(route, of: readiness, now: now) { lines.append(line) }
        }
        guard !troubles.isEmpty else { return lines }
        let names = Set(readiness.routes.map(\.name))
        troubles = troubles.filter { subject, _ in
            if case .route(let name) = subject { names.contains(name) } else { true }
        }
        return lines
    }

    /// Notes how a route is doing.
    private mutating func note(
        _ route: WorkerReadiness.Route, of readiness: WorkerReadiness, now: MonotonicTime
    ) -> Line? {
        let subject = Subject.route(route.name)
        switch RouteState(rawValue: route.state) {
        case .parked, .ready, nil: break
        case .probing, .starting, .unreachable:
            // The trouble goes on: a probe that fails parks the route again, and a lost connection repairs nothing.
            if troubles[subject] != nil { return nil }
        case .paused, .unassigned:
            troubles[subject] = nil
            return nil
        }
        let hindrance = route.hindrance
        // A trouble of the whole worker is told as the worker's.
        if let hindrance, hindrance.kind == .refused, readiness.reasons.contains(hindrance.reason) { return nil }
        return note(subject, hindrance?.kind ?? .parked, hindrance?.reason, now: now)
    }

    /// Notes the trouble of one subject, or that it has none.
    private mutating func note(
        _ subject: Subject, _ kind: WorkerReadiness.Hindrance, _ why: String?, now: MonotonicTime
    ) -> Line? {
        let route = if case .route(let name) = subject { name as String? } else { nil as String? }
        guard let why else {
            guard let ended = troubles.removeValue(forKey: subject), ended.toldAt != nil else { return nil }
            let length = OutageLog.length(of: now - ended.since)
            return Line(level: .notice, message: ended.kind.end, route: route, detail: "after \(length)")
        }
        var trouble = troubles[subject] ?? Trouble(kind: kind, since: now)
        defer { troubles[subject] = trouble }
        // Another kind of trouble is told at once. It belongs to the same outage.
        let isOther = trouble.kind != kind && trouble.toldAt != nil
        trouble.kind = kind
        let due = trouble.toldAt.map { $0 + Self.reminderInterval } ?? trouble.since + Self.patience
        guard isOther || now >= due else { return nil }
        trouble.toldAt = now
        return Line(level: .warning, message: kind.message, route: route, detail: why)
    }
}

extension WorkerReadiness.Hindrance {
    /// The log's message while it lasts.
    fileprivate var message: String {
        switch self {
        case .unready: "the worker is not ready: `martlet status` says what to do"
        case .parked: "a route takes no jobs: `martlet status` says what to do"
        case .refused: "RabbitMQ does not take what a route publishes: `martlet status` says what to do"
        case .displaced: "something else than APNs answers a route's pushes: `martlet status` says what to do"
        }
    }

    /// The log's message when it is over.
    fileprivate var end: String {
        switch self {
        case .unready: "the worker is ready again"
        case .parked: "a route takes jobs again"
        case .refused: "RabbitMQ takes what a route publishes again"
        case .displaced: "only APNs answers a route's pushes again"
        }
    }
}
