import EventLoop
import Logging

/// Decides from looks at a worker's readiness what the log tells of its state.
///
/// A worker that is not ready, and a route that is parked or whose publications are refused, are told once they last, again
/// each minute, and when they end, with their length. Hosts that cannot be reached are ``OutageLog``'s. Pure: time comes in.
struct StateLog {
    /// How long something lasts before it is told. Connections that are opened again need less.
    static let patience = Duration.seconds(3)
    /// How often what lasts is told again.
    static let reminderInterval = Duration.seconds(60)

    /// What there is to tell.
    struct Line: Equatable {
        /// How much it matters.
        var level: Logger.Level
        /// A constant sentence.
        var message: String
        /// The route that it is about; nil for the worker.
        var route: String?
        /// Why, or how long it took; nil without either.
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
    /// - Returns: What is news. Nothing once the worker drains: that has lines of its own.
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
            // A probe that fails parks the route again, and a connection that is lost mends nothing: the trouble goes on.
            if troubles[subject] != nil { return nil }
        case .paused, .unassigned:
            troubles[subject] = nil
            return nil
        }
        let hindrance = route.hindrance
        // What stops the whole worker is told with the worker.
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
        // Another kind of trouble is news at once, and the same outage.
        let isOther = trouble.kind != kind && trouble.toldAt != nil
        trouble.kind = kind
        let due = trouble.toldAt.map { $0 + Self.reminderInterval } ?? trouble.since + Self.patience
        guard isOther || now >= due else { return nil }
        trouble.toldAt = now
        return Line(level: .warning, message: kind.message, route: route, detail: why)
    }
}

extension WorkerReadiness.Hindrance {
    /// What the log says while it lasts.
    fileprivate var message: String {
        switch self {
        case .unready: "the worker is not ready: `martlet status` says what to do"
        case .parked: "a route takes no jobs: `martlet status` says what to do"
        case .refused: "RabbitMQ does not take what a route publishes: `martlet status` says what to do"
        }
    }

    /// What the log says when it is over.
    fileprivate var end: String {
        switch self {
        case .unready: "the worker is ready again"
        case .parked: "a route takes jobs again"
        case .refused: "RabbitMQ takes what a route publishes again"
        }
    }
}
