import Text

/// The text of the demo's live view, made from numbers: pure.
struct DemoStatus: Sendable {
    /// The state of a worker.
    enum WorkerState: String, Sendable {
        case running
        case killed
    }

    /// A device.
    struct Device: Sendable {
        /// The state of a device that is connected.
        static let online = "online"

        /// Who owns it.
        var name: String
        /// Its state: ``online`` or `offline`.
        var state: String
        /// How many notifications arrived.
        var received: Int
        /// The last notification that arrived, in words.
        var last: String
    }

    /// Milliseconds since publishing began.
    var elapsed: Int64 = 0
    /// Jobs to publish.
    var jobs = 0
    /// Notifications that the jobs ask for.
    var notifications = 0
    /// How far the run is.
    var progress = DemoScript.Progress()
    /// Final reports per second, over about the last second.
    var rate = 0
    /// Notifications by outcome.
    var outcomes: [String: Int] = [:]
    /// The workers in the order of their start.
    var workers: [(name: String, state: WorkerState)] = []
    /// The devices.
    var devices: [Device] = []

    /// One line for logs and pipes.
    var plainLine: String {
        var parts = [
            "\(TimeText.length(elapsed)): promised \(TimeText.count(progress.promised))",
            "final \(TimeText.count(progress.final)) of \(TimeText.count(notifications))", "\(TimeText.count(rate))/s",
        ]
        parts += sortedOutcomes.map { "\($0.key) \(TimeText.count($0.value))" }
        parts += workers.filter { $0.state != .running }.map { "\($0.name) \($0.state.rawValue)" }
        if !devices.isEmpty { parts.append("devices got \(TimeText.count(devices.reduce(0) { $0 + $1.received }))") }
        parts += devices.filter { $0.state != Device.online }.map { "\($0.name) \($0.state)" }
        return parts.joined(separator: ", ")
    }

    /// The lines of the live view.
    ///
    /// - Parameters:
    ///   - width: Columns of the terminal.
    ///   - colour: Whether escape sequences may colour them.
    func lines(width: Int, colour: Bool) -> [String] {
        let outcomes = sortedOutcomes.map { "\($0.key) \(TimeText.count($0.value))" }.joined(separator: "  ")
        let workers = workers.map { "\($0.name) \($0.state.rawValue)" }.joined(separator: "  ")
        var lines = [
            "  published  \(bar(progress.promised))",
            "  final      \(bar(progress.final))  \(TimeText.count(rate))/s",
            "  outcomes   \(outcomes.isEmpty ? "-" : outcomes)",
            "  workers    \(workers)  \(TimeText.length(elapsed))\(waiting)",
        ]
        lines += devices.map(Self.line(of:))
        return lines.map { line in
            let cut = String(line.prefix(max(1, width - 1)))
            guard colour else { return cut }
            return Ink.paint(cut, words: ["killed": .red, "accepted": .green, "offline": .red, "online": .green])
        }
    }

    private static func line(of device: Device) -> String {
        let count = TimeText.count(device.received).aligned(to: 4)
        return "  \(device.name.padded(to: 9))  \(device.state.padded(to: 7)) \(count)  \(device.last)"
    }

    /// A note about retries. Once all is published and no report comes, most open notifications wait in a retry tier.
    private var waiting: String {
        progress.promised == notifications && progress.open > 0 && rate == 0
            ? "  (\(TimeText.count(progress.open)) wait for their retry)" : ""
    }

    private var sortedOutcomes: [(key: String, value: Int)] {
        outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    private func bar(_ value: Int) -> String {
        let cells = 30
        let full = notifications > 0 ? min(cells, value * cells / notifications) : 0
        let drawn = String(repeating: "#", count: full) + String(repeating: "-", count: cells - full)
        let width = TimeText.count(notifications).count
        return "[\(drawn)]  \(TimeText.count(value).aligned(to: width)) of \(TimeText.count(notifications))"
    }
}
