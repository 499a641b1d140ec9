import PushModel

// Makes a worker's report from the facts that the admin server shows, too. Pure.
extension WorkerReport {
    /// Puts a report together.
    ///
    /// - Parameters:
    ///   - identity: Whose report it is.
    ///   - names: The names of its routes by the positions of their counters; nil where no route has that position.
    ///   - time: The time in milliseconds since 1970.
    ///   - readiness: How the worker and its routes are doing.
    ///   - snapshot: What the lane counted.
    ///   - admin: Where its admin server listens; nil without one.
    ///   - isDraining: Whether the worker stops.
    init(
        of identity: WorkerIdentity, routes names: [String?], at time: Int64, readiness: WorkerReadiness,
        snapshot: LaneSnapshot, admin: String?, isDraining: Bool
    ) {
        var counters: [String: RouteCounters] = [:]
        for (name, counted) in zip(names, snapshot.routes) {
            if let name, let counted { counters[name] = counted }
        }
        let routes = readiness.routes.filter { $0.state != RouteState.unassigned.rawValue }.map { route in
            let counted = counters[route.name]
            return Route(
                name: route.name, state: route.state, reason: route.reason.map(Self.cut),
                isRefused: route.refusal == nil ? nil : true, limitedBy: route.limitedBy ?? RouteLimit.nothing.rawValue,
                connections: route.connections,
                inFlight: counted?.inFlight ?? 0, waiting: counted?.waiting ?? 0,
                accepted: counted?.outcomes.accepted ?? 0, holdsTokens: counted?.holdsTokens ?? false,
                deadTokens: counted?.deadTokens)
        }
        let named = routes.sorted { Self.weight($0) > Self.weight($1) }.prefix(Self.mostRoutes)
        self.init(
            instance: identity.instance, program: identity.program, startedAt: identity.startedAt, sentAt: time,
            share: identity.share, admin: admin, reasons: readiness.reasons.prefix(Self.mostReasons).map(Self.cut),
            control: readiness.control?.detail.map(Self.cut), isDraining: isDraining,
            accepted: counters.values.reduce(0) { $0 + $1.outcomes.accepted },
            inFlight: counters.values.reduce(0) { $0 + $1.inFlight }, routes: Array(named),
            moreRoutes: routes.count - named.count, failures: Self.failures(counters.values))
    }

    private static func failures(_ counters: some Sequence<RouteCounters>) -> [Failure] {
        let outcomes = counters.reduce(into: OutcomeCounts()) { $0.add($1.outcomes) }
        return outcomes.refused.entries.sorted { $0.count > $1.count }.prefix(mostReasons).map {
            Failure(
                outcome: $0.kind.rawValue, reason: $0.reason.isEmpty ? nil : $0.reason, count: $0.count)
        }
    }

    /// How important a route is to operators: routes that do not work or hold device tokens come first, then the
    /// busiest.
    private static func weight(_ route: Route) -> (Int, Int, Int) {
        let isWell = route.state == RouteState.ready.rawValue && !route.holdsTokens
        return (isWell ? 0 : 1, route.inFlight + route.waiting, route.accepted)
    }

    private static func cut(_ reason: String) -> String {
        String(String.UnicodeScalarView(reason.unicodeScalars.prefix(longestReason)))
    }
}

extension Worker {
    /// What the worker tells operators now.
    ///
    /// - Parameters:
    ///   - time: The time in milliseconds since 1970.
    ///   - isDraining: Whether the worker stops.
    func report(at time: Int64, isDraining: Bool) -> WorkerReport {
        WorkerReport(
            of: identity, routes: routeNames(), at: time, readiness: readiness(),
            snapshot: snapshot(), admin: adminAddress, isDraining: isDraining)
    }

    /// The names of the routes whose results say `hold` now.
    func holdingRoutes() -> Set<String> {
        var holding: Set<String> = []
        for (name, counters) in zip(routeNames(), snapshot().routes) where counters?.holdsTokens == true {
            if let name { holding.insert(name) }
        }
        return holding
    }
}
