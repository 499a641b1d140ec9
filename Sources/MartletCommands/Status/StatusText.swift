import PushWorker
import Text
import Topology

/// Writes a status for people: pure text from facts.
struct StatusText {
    /// The usual width in columns. Only commands to copy may be longer.
    static let usualWidth = 80
    /// How many rows a table has at most, unless all are wanted.
    static let mostRows = 24

    /// One line and its colour.
    private struct Line {
        var text: String
        var ink: Ink?
    }

    /// The facts to show.
    let facts: StatusFacts
    /// The findings: what needs a person.
    let findings: [StatusFinding]
    /// The columns of the terminal.
    var width = usualWidth
    /// Whether escape sequences may colour the lines.
    var colour = false
    /// Whether no row is left out.
    var showsAll = false

    /// The lines, ready for a terminal.
    var lines: [String] {
        (head + advice + workers + routes + control + queues + held + letters).map { line in
            // Names and reasons come from other machines. They must not command the terminal.
            let text = line.text.printable
            return colour ? line.ink?(text) ?? text : text
        }
    }

    // MARK: Parts

    private var head: [Line] { broker + unknowns }

    /// What the broker does not tell.
    private var unknowns: [Line] {
        var lines: [Line] = []
        let queues = facts.activity.queues.filter { TopologyNames.isOurs(queue: $0.name) }
        if !queues.isEmpty, queues.allSatisfy({ $0.ready == nil }) {
            lines += wrapped(
                "counts, rates, policies in effect and alarms: unknown, because the broker has taken no statistics yet, or "
                    + "takes none (management_agent.disable_metrics_collector, management.disable_stats)", 2)
        }
        let exchanges = facts.objects.flatMap { $0.knowsTrusted ? nil : $0.foreignWays.compactMap(\.exchange) } ?? []
        if let first = exchanges.first {
            let more = exchanges.count > 1 ? " and \(exchanges.count - 1) more" : ""
            lines += wrapped(
                "exchanges of others that lead jobs in: \(first)\(more); with --config it shows whether jobs.from names "
                    + "them", 2)
        }
        return lines
    }

    private var broker: [Line] {
        let version = facts.activity.version.map { " \($0)" } ?? ""
        let moment = DateTime.write(facts.at, withMilliseconds: true)
        var lines = wrapped(
            "RabbitMQ\(version) at \(facts.place), virtual host \(facts.virtualHost), \(moment)", 0)
        guard let nodes = facts.activity.nodes else {
            return lines + wrapped("nodes: not shown, because the user does not have the tag monitoring", 0)
        }
        for node in nodes {
            let memory = node.memory.map { used in
                "memory \(Self.size(used))\(node.memoryLimit.map { " of \(Self.size($0))" } ?? "")"
            }
            let parts = [
                node.isRunning.map { $0 ? "running" : "down" }, memory,
                node.freeDisk.map { "disk \(Self.size($0)) free" },
                node.hasMemoryAlarm == true ? "MEMORY ALARM" : nil, node.hasDiskAlarm == true ? "DISK ALARM" : nil,
            ]
            let text = "node \(node.name): \(parts.compactMap(\.self).joined(separator: ", "))"
            let isWell = node.isRunning != false && node.hasMemoryAlarm != true && node.hasDiskAlarm != true
            lines += wrapped(text, 0, isWell ? nil : .red)
        }
        return lines
    }

    private var advice: [Line] {
        guard !findings.isEmpty else { return [Line(text: ""), Line(text: "Nothing needs a person.", ink: .green)] }
        var lines = [Line(text: ""), Line(text: "What to do, worst first", ink: .bold)]
        for finding in findings {
            let urgency = finding.urgency.rawValue.padded(to: 6)
            lines += wrapped("\(urgency)\(finding.object): \(finding.detail)", 6, finding.urgency == .now ? .red : nil)
            // Not wrapped, because people copy this line.
            lines.append(Line(text: "      → \(finding.next)"))
        }
        return lines
    }

    /// Why there are no workers to show although their reports can be read.
    private var absence: String {
        if facts.isCatchingUp { return "not shown yet: reports and commands are still being read" }
        let left = facts.fleet.left(at: facts.at)
        return left > 0
            ? "none; \(left) stopped in the last five minutes" : "none has reported in the last five minutes"
    }

    private var workers: [Line] {
        let workers = facts.fleet.workers(at: facts.at)
        guard !workers.isEmpty else {
            let consumers =
                facts.activity.queues.filter { TopologyNames.isJobQueue($0.name) }
                .map { $0.consumers ?? 0 }.max() ?? 0
            let reason = facts.fleetTrouble.map { "not shown: \($0)" } ?? absence
            let more = consumers > 0 ? "; job queues have up to \(consumers) consumers each" : ""
            return [Line(text: "")] + wrapped("workers: \(reason)\(more)", 0)
        }
        var lines = [
            Line(text: ""),
            row("worker", "version", "state", ["up", "accepted/s", "in flight"], [8, 12, 11], .bold),
        ]
        for worker in shown(workers) {
            let condition = worker.condition(at: facts.at)
            let up = TimeText.length(max(0, worker.report.sentAt -| worker.report.startedAt))
            let isSilent = condition == .silent
            lines.append(
                row(
                    worker.report.instance, worker.report.program, condition.rawValue,
                    [
                        up, isSilent ? "-" : Self.rate(worker.acceptedPerSecond),
                        isSilent ? "-" : Self.short(worker.report.inFlight),
                    ], [8, 12, 11], [.silent, .notReady].contains(condition) ? .red : nil))
        }
        return lines + rest(workers.count) + adminServers
    }

    /// The addresses of the admin servers. They are shown because the system chooses the port where `admin.listen` has
    /// port 0.
    private var adminServers: [Line] {
        let addresses = Dictionary(grouping: facts.fleet.live(at: facts.at)) { $0.report.admin }
        let places = addresses.compactMap { address, workers in
            let name = workers.count == 1 ? Self.cut(workers[0].report.instance, to: 24) : "\(workers.count) workers"
            return address.map { "\(Self.cut($0, to: 48)) (\(name))" }
        }
        guard !places.isEmpty else { return [] }
        let more = places.count > Self.mostRows && !showsAll ? ", …" : ""
        return wrapped("admin servers: \(shown(places.sorted()).joined(separator: ", "))\(more)", 2)
    }

    private var routes: [Line] {
        let routes = facts.fleet.routes(at: facts.at).filter {
            showsAll || $0.name != WorkerBuilder.unrouted || $0.state != "ready"
        }
        guard !routes.isEmpty else { return [] }
        var lines = [
            Line(text: ""),
            row("route", "state", "limited by", ["workers", "accepted/s", "in flight"], [8, 12, 11], .bold),
        ]
        for route in shown(routes) {
            let isWell = [RouteState.ready, .starting].map(\.rawValue).contains(route.state)
            lines.append(
                row(
                    route.name, route.state, route.limits.isEmpty ? "-" : route.limits.joined(separator: "+"),
                    [Self.short(route.workers.count), Self.rate(route.acceptedPerSecond), Self.short(route.inFlight)],
                    [8, 12, 11], isWell ? nil : .red))
        }
        return lines + rest(routes.count)
    }

    /// The operators' commands to all workers that stand.
    private var control: [Line] {
        let standing = facts.control.standing(at: facts.at)
        guard !standing.isEmpty else {
            return facts.controlTrouble.map { [Line(text: "")] + wrapped("commands: not shown: \($0)", 2) } ?? []
        }
        return [Line(text: ""), Line(text: "asked of all workers", ink: .bold)]
            + shown(standing).flatMap { wrapped($0.sentence, 2) } + rest(standing.count)
    }

    private var queues: [Line] {
        let queues = facts.activity.queues.filter { showsAll || isWorthARow($0) }
        let widths = [9, 9, 10, 8, 8]
        var lines = [
            Line(text: ""),
            Line(
                text: cells("queue", ["ready", "unacked", "consumers", "in/s", "out/s"], widths), ink: .bold),
        ]
        for queue in shown(queues) {
            let name = queue.name.hasPrefix(TopologyNames.queuePrefix) ? queue.name : "(\(queue.name))"
            let numbers = [queue.ready, queue.unacknowledged, queue.consumers].map { $0.map(Self.short) ?? "-" }
            let rates = [queue.publishRate, queue.deliveryRate].map(Self.rate)
            let isWaiting = TopologyNames.isJobQueue(queue.name) && (queue.ready ?? 0) > 0 && queue.consumers == 0
            lines.append(Line(text: cells(name, numbers + rates, widths), ink: isWaiting ? .red : nil))
        }
        let hidden = facts.activity.queues.filter { !showsAll && !isWorthARow($0) }
        let uncounted = hidden.count { $0.ready == nil }
        let notes = [(hidden.count - uncounted, "hold nothing"), (uncounted, "are not counted")].filter { $0.0 > 0 }
        return lines + rest(queues.count) + notes.map { Line(text: "\($0.0) more \($0.1) (--all)") }
    }

    /// The jobs that wait for their time, apart from retries: what is parked, and how much room it takes.
    private var held: [Line] {
        let queues = facts.holdingQueues.filter { $0.ready != 0 }
        guard !queues.isEmpty else { return [] }
        let parts = queues.map { queue in
            let size = queue.bytes.map(Self.size) ?? "?"
            let limit = queue.byteLimit.map { " of \(Self.size(Int($0)))" } ?? ""
            return "\(queue.ready.map(TimeText.count) ?? "?") in \(queue.name) (\(size)\(limit))"
        }
        return [Line(text: "")] + wrapped("jobs held until their time: \(parts.joined(separator: ", "))", 2)
    }

    private var letters: [Line] {
        let counts = facts.deadLetters.map { "\($0.count.map { TimeText.count($0) } ?? "?") in \($0.queue)" }
        var lines =
            [Line(text: "")]
            + wrapped("dead letters: \(counts.isEmpty ? "no queue" : counts.joined(separator: ", "))", 2)
        for (queue, letters) in Dictionary(grouping: facts.letters ?? [], by: \.queue).sorted(by: { $0.key < $1.key }) {
            let words = letters.map { Self.words($0.outcome, $0.reason, $0.count) }
            lines += wrapped("\(queue): \(words.joined(separator: ", "))", 2)
        }
        let failures = facts.fleet.failures(at: facts.at)
        guard !failures.isEmpty else { return lines }
        let words = failures.map { Self.words($0.outcome, $0.reason, $0.count) }
        return lines + wrapped("failed since the workers started: \(words.joined(separator: ", "))", 2)
    }

    // MARK: Rows

    /// Whether a queue is shown without `--all`: a queue with messages, or one that always matters.
    private func isWorthARow(_ queue: BrokerActivity.Queue) -> Bool {
        guard queue.name.hasPrefix(TopologyNames.queuePrefix),
            ![TopologyNames.fleetQueue, TopologyNames.controlQueue].contains(queue.name),
            !TopologyNames.isClients(queue.name)
        else { return false }
        if (queue.ready ?? 0) +| (queue.unacknowledged ?? 0) > 0 { return true }
        let isUnrouted = TopologyNames.normalQueue(of: queue.name) == TopologyNames.unroutedJobsQueue
        return TopologyNames.isJobQueue(queue.name) && !isUnrouted && !queue.name.hasSuffix(TopologyNames.returnSuffix)
            || [TopologyNames.resultsQueue, TopologyNames.deadQueue].contains(queue.name)
    }

    private func shown<Row>(_ rows: [Row]) -> ArraySlice<Row> {
        rows.prefix(showsAll ? rows.count : Self.mostRows)
    }

    private func rest(_ count: Int) -> [Line] {
        count > Self.mostRows && !showsAll ? [Line(text: "… and \(count - Self.mostRows) more (--all)")] : []
    }

    private func row(
        _ name: String, _ first: String, _ second: String, _ numbers: [String], _ widths: [Int], _ ink: Ink? = nil
    ) -> Line {
        let words = " \(Self.cut(first, to: 11).padded(to: 11)) \(Self.cut(second, to: 11).padded(to: 11))"
        let end = zip(numbers, widths).map { $0.aligned(to: $1) }.joined()
        let room = max(12, width - words.count - end.count)
        return Line(text: Self.cut(name, to: room).padded(to: room) + words + end, ink: ink)
    }

    private func cells(_ name: String, _ numbers: [String], _ widths: [Int]) -> String {
        let end = zip(numbers, widths).map { $0.aligned(to: $1) }.joined()
        let room = max(12, width - end.count)
        return Self.cut(name, to: room).padded(to: room) + end
    }

    /// A text in lines of at most the width. All lines after the first are indented.
    private func wrapped(_ text: String, _ indent: Int, _ ink: Ink? = nil) -> [Line] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let candidate = line.isEmpty ? String(word) : "\(line) \(word)"
            if candidate.count <= width || line.allSatisfy({ $0 == " " }) {
                line = candidate
            } else {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            }
        }
        // The no-break spaces were needed only to keep words on one line.
        return (lines + [line]).map { Line(text: $0.replacing("\u{a0}", with: " "), ink: ink) }
    }

    /// A name without its middle if it is too long. Names often differ only at the end, so the end stays.
    static func cut(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        let end = (width - 1) / 2
        return "\(text.prefix(width - 1 - end))…\(text.suffix(end))"
    }

    /// A count that fits its column.
    static func short(_ count: Int) -> String {
        switch count {
        case ..<1_000_000: TimeText.count(count)
        case ..<1_000_000_000: "\(TimeText.count(count / 1_000))k"
        default: "\(TimeText.count(count / 1_000_000))M"
        }
    }

    private static func rate(_ rate: Double?) -> String {
        guard let rate else { return "-" }
        guard rate > 0, rate < 9.95 else { return short(Int(saturating: rate.rounded())) }
        return "\(Int(rate * 10) / 10).\(Int(rate * 10) % 10)"
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 10 << 30 ? "\(TimeText.count(bytes >> 20)) MiB" : "\(TimeText.count(bytes >> 30)) GiB"
    }

    private static func words(_ outcome: String, _ reason: String?, _ count: Int) -> String {
        let words = [outcome, reason, TimeText.count(count)].compactMap(\.self).joined(separator: " ")
        return words.replacing(" ", with: "\u{a0}")
    }
}
