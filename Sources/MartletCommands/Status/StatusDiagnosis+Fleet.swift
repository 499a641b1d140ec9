import PushWorker
import Text
import Topology

// Findings about the workers and their routes.
extension StatusDiagnosis {
    /// Job queues without a consumer. If no queue has one, that is the only finding; else there is one for queues that
    /// hold jobs, and one for empty queues.
    var unserved: [StatusFinding] {
        // What workers take is in their reports.
        guard !facts.isCatchingUp else { return [] }
        let command = "martlet worker \(facts.configurationOption)"
        let ready = RouteState.ready.rawValue
        let consumed = Set(routes.filter { $0.state == ready }.map { TopologyNames.jobQueue(route: $0.name) })
        // A route that cannot push takes no jobs, and has a finding of its own.
        let stopped = Set(
            routes.filter { $0.state != ready }.map { TopologyNames.jobQueue(route: $0.name) } + pausedQueues)
        let deserted = jobQueues.filter { queue in
            queue.consumers == 0 && !stopped.contains(TopologyNames.normalQueue(of: queue.name))
                && !isCountedLate(queue, consumed)
        }
        let waiting = deserted.filter { ($0.ready ?? 0) > 0 }
        let jobs = waiting.reduce(0) { $0 +| ($1.ready ?? 0) }
        let isAbandoned = consumed.isEmpty && jobQueues.allSatisfy { $0.consumers == 0 }
        if isAbandoned, !deserted.isEmpty {
            let held = jobs > 0 ? "; \(Self.count(jobs, "job waits", "jobs wait"))" : ""
            return [
                StatusFinding(
                    urgency: jobs > 0 ? .now : .soon, object: "workers",
                    detail: "no worker takes jobs from any queue\(held).", next: command)
            ]
        }
        var found: [StatusFinding] = []
        if !waiting.isEmpty {
            found.append(
                StatusFinding(
                    urgency: .now, object: Self.objects(waiting.map(\.name), "queue"),
                    detail: "\(Self.count(jobs, "job waits", "jobs wait")) and no worker takes them.", next: command)
            )
        }
        // Workers of a version without return queues do not consume from them, and work as well.
        let idle = deserted.filter { ($0.ready ?? 0) == 0 && !$0.name.hasSuffix(TopologyNames.returnSuffix) }
        if !idle.isEmpty {
            found.append(
                StatusFinding(
                    urgency: .soon, object: Self.objects(idle.map(\.name), "queue"),
                    detail: "no worker would take its jobs: does a worker have the route?", next: command))
        }
        return found
    }

    /// Whether the broker has not counted a queue's consumers yet, although a worker takes its jobs. The broker counts
    /// every five seconds, and later after a start.
    ///
    /// - Parameters:
    ///   - queue: The queue, without a counted consumer.
    ///   - consumed: The normal queues of the routes that a worker reports as ready.
    private func isCountedLate(_ queue: BrokerActivity.Queue, _ consumed: Set<String>) -> Bool {
        let normal = TopologyNames.normalQueue(of: queue.name)
        guard consumed.contains(normal) else { return false }
        // Reports do not say whether a worker takes from a route's further queues. Their counts come with that of the
        // normal queue.
        return queue.name == normal || (facts.queue(normal)?.consumers ?? 0) == 0
    }

    /// Routes that no worker can push for.
    var parkedRoutes: [StatusFinding] {
        routes.compactMap { route in
            let states = [RouteState.parked, .unreachable, .probing].map(\.rawValue)
            // A route that is just starting has no reason yet. A route whose queue is missing has one.
            let isHeldUp = route.state == RouteState.starting.rawValue && route.reason != nil
            guard states.contains(route.state) || isHeldUp else { return nil }
            let count = route.workers.count == 1 ? "its worker" : "all \(route.workers.count) workers"
            let reason = route.reason.map { ": \($0)" } ?? ""
            return StatusFinding(
                urgency: .now, object: "route \(route.name)", detail: "\(route.state) in \(count)\(reason)",
                next: "martlet check \(facts.configurationOption)")
        }
    }

    /// Routes that are ready but give a reason: RabbitMQ does not take their messages, or they lack something.
    var hinderedRoutes: [StatusFinding] {
        let unready = facts.fleet.live(at: facts.at).filter { $0.condition(at: facts.at) == .notReady }
        let unreadyNames = Set(unready.map(\.report.instance))
        return routes.compactMap { route in
            // A reason that concerns a whole worker is in the finding about the worker.
            guard route.state == RouteState.ready.rawValue, let reason = route.reason,
                !route.workers.allSatisfy(unreadyNames.contains)
            else { return nil }
            let object = "route \(route.name)"
            guard route.isRefused else {
                // Connections to APNs open by themselves.
                guard !route.isConnecting else { return nil }
                return StatusFinding(
                    urgency: .soon, object: object, detail: "it pushes, but: \(reason)",
                    next: "martlet check \(facts.configurationOption)")
            }
            return StatusFinding(
                urgency: .now, object: object,
                detail: "\(reason): RabbitMQ does not take what it publishes, so it pushes nothing more.",
                next: reason == "results_full"
                    ? "martlet results --drain --queue QUEUE, the full queue that is bound to \(TopologyNames.results)"
                    : "martlet topology check \(facts.configurationOption)")
        }
    }

    /// Routes that push in some workers only, or that doubt their device tokens.
    var troubledRoutes: [StatusFinding] {
        routes.flatMap { route in
            var found: [StatusFinding] = []
            if let first = route.troubled.first {
                let worker = facts.fleet.live(at: facts.at).first { $0.report.instance == first }
                found.append(
                    StatusFinding(
                        urgency: .soon, object: "route \(route.name)",
                        detail: "it does not push in \(Self.objects(route.troubled, "worker")).",
                        next: "martlet health --ready --address \(Self.address(worker?.report.admin))"))
            }
            if route.holdsTokens {
                found.append(
                    StatusFinding(
                        urgency: .soon, object: "route \(route.name)",
                        detail: "APNs refuses most of its device tokens, so results say hold: are its environment and "
                            + "topics right? If so: martlet route trust \(route.name)",
                        next: "martlet dead list --tokens --limit 20"))
            }
            return found
        }
    }

    /// Workers that are not ready, or that became silent.
    var workers: [StatusFinding] {
        let alarm = (facts.activity.nodes ?? []).contains { $0.hasMemoryAlarm == true || $0.hasDiskAlarm == true }
        return facts.fleet.workers(at: facts.at).compactMap { worker in
            let name = worker.report.instance
            switch worker.condition(at: facts.at) {
            case .ready, .draining: return nil
            case .notReady:
                let reasons = worker.report.reasons.prefix(Self.namedObjects).joined(separator: "; ")
                return StatusFinding(
                    urgency: .now, object: "worker \(name)", detail: "not ready: \(reasons)",
                    next: "martlet health --ready --address \(Self.address(worker.report.admin))")
            case .silent:
                // During an alarm no worker can publish a report, and the alarm has a finding of its own.
                guard !alarm else { return nil }
                let seconds = (facts.at -| worker.reportedAt) / 1_000
                return StatusFinding(
                    urgency: .soon, object: "worker \(name)",
                    detail: "it has said nothing for \(seconds) s: it was killed, or does not reach the broker.",
                    next: "martlet health --address \(Self.address(worker.report.admin))")
            }
        }
    }

    /// The address of a worker's admin server for a command line.
    ///
    /// - Parameter admin: Where the server listens; nil where that is not known. `HOST` stands for the worker's machine
    ///   where the server listens at all addresses of its machine.
    static func address(_ admin: String?) -> String {
        guard let admin else { return "HOST:PORT" }
        for everywhere in ["0.0.0.0:", "[::]:"] where admin.hasPrefix(everywhere) {
            return ShellText.quoted("HOST:\(admin.dropFirst(everywhere.count))")
        }
        return ShellText.quoted(admin)
    }

    /// Queues whose jobs would wait for more than ``longestBacklog`` at the present rate of deliveries.
    var lateJobs: [StatusFinding] {
        jobQueues.compactMap { queue in
            guard let ready = queue.ready, ready > 0, (queue.consumers ?? 0) > 0, let rate = queue.deliveryRate,
                rate > 0, Double(ready) / rate > Self.longestBacklog
            else { return nil }
            let minutes = Int(min(Double(ready) / rate / 60, 1_000_000))
            let normal = TopologyNames.normalQueue(of: queue.name)
            let limits = routes.first { TopologyNames.jobQueue(route: $0.name) == normal }?.limits ?? []
            var why = limits.isEmpty ? "" : " Limited by: \(limits.joined(separator: ", "))."
            let pace = pace(of: normal)
            if let pace { why += " The route is \(pace.account)." }
            return StatusFinding(
                urgency: .soon, object: "queue \(queue.name)",
                detail: "\(Self.count(ready, "job waits", "jobs wait")), \(minutes) minutes at the present rate.\(why)",
                next: pace?.undoing ?? Self.remedy(limits, facts))
        }
    }

    /// The advice for a route that is too slow.
    private static func remedy(_ limits: [String], _ facts: StatusFacts) -> String {
        if limits.contains(RouteLimit.rate.rawValue) { return "raise routes[].rate, or start more workers" }
        if limits.contains(RouteLimit.streams.rawValue) || limits.contains(RouteLimit.window.rawValue) {
            return "raise routes[].connections, or start more workers"
        }
        if limits.contains(RouteLimit.broker.rawValue) { return "raise results.queues, or give the broker more cores" }
        return "martlet worker \(facts.configurationOption)"
    }

    /// Workers of different versions.
    var versions: [StatusFinding] {
        let versions = Set(facts.fleet.live(at: facts.at).map(\.report.program)).sorted(by: Self.isEarlier)
        guard versions.count > 1, let oldest = versions.first else { return [] }
        let old = facts.fleet.live(at: facts.at).filter { $0.report.program == oldest }.map(\.report.instance)
        return [
            StatusFinding(
                urgency: .soon, object: Self.objects(old, "worker"),
                detail: "version \(oldest), others have \(versions.dropFirst().joined(separator: ", ")): neighbouring "
                    + "versions may share queues, until the last is replaced.", next: "replace the older workers")
        ]
    }

    /// Routes that some workers do not know, although they serve another route together with those that do. Workers for
    /// other apps, and workers that divide the routes among them, are left alone.
    var forgotten: [StatusFinding] {
        let whole = facts.fleet.live(at: facts.at).map(\.report).filter { $0.share == "all" && $0.moreRoutes == 0 }
        let known = whole.map { Set($0.routes.map(\.name)).subtracting([WorkerBuilder.unrouted]) }
        return routes.compactMap { route in
            let company = known.filter { $0.contains(route.name) }.reduce(into: Set<String>()) { $0.formUnion($1) }
            let lacking = zip(whole, known).filter { !$1.contains(route.name) && !$1.isDisjoint(with: company) }
            guard !company.isEmpty, !lacking.isEmpty else { return nil }
            return StatusFinding(
                urgency: .soon, object: "route \(route.name)",
                detail: "it is unknown to \(Self.objects(lacking.map(\.0.instance), "worker")), while "
                    + "\(Self.count(route.workers.count, "worker serves it", "workers serve it")).",
                next: "give these workers the configuration of the others, then systemctl reload (SIGHUP)")
        }
    }

    /// What the login may not read, or what is missing, so that this status says less than it could.
    var unreadable: [StatusFinding] {
        [
            ("workers", TopologyNames.fleetQueue, facts.fleetTrouble),
            ("commands", TopologyNames.controlQueue, facts.controlTrouble),
        ].compactMap { object, queue, trouble in
            trouble.map {
                StatusFinding(
                    urgency: .soon, object: object, detail: "their messages cannot be read, so nothing is known: \($0)",
                    next: "ask as a user that may read \(queue), such as \(BrokerRole.monitor.userName), or make it "
                        + "with martlet topology apply \(facts.configurationOption)")
            }
        }
    }

    /// Whether a version comes before another: by its numbers, such as 0.9.1 before 0.10.0, else as text.
    static func isEarlier(_ one: String, than other: String) -> Bool {
        let numbers = [one, other].map { $0.split(separator: ".").map { Int($0) ?? 0 } }
        return numbers[0] == numbers[1] ? one < other : numbers[0].lexicographicallyPrecedes(numbers[1])
    }

    private var routes: [FleetPicture.Route] { facts.fleet.routes(at: facts.at) }
}
