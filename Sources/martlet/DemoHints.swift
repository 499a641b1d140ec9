import APNSSimulator
import LocalStack

/// The commands to look closer at a demo that keeps running.
struct DemoHints {
    /// What to say when nothing is kept.
    static let later = [
        "",
        "Everything was stopped. To look closer, keep it running with `KEEP=1 make run` or `martlet demo --keep`: it prints",
        "the addresses for `martlet results`, `martlet dead list`, `martlet push`, the simulator's ledger and rabbitmqctl.",
    ]

    /// The text, line by line.
    let lines: [String]

    /// Writes the commands down, and a `rabbitmqctl` for the private broker.
    /// - Parameters:
    ///   - run: What keeps running.
    ///   - workers: The workers that keep running.
    init(_ run: LocalRun, _ workers: [DemoWorkers.Member]) throws {
        let control = try run.directory.write(Self.controlScript(run.broker.environment), to: "rabbitmqctl")
        lines = Self.lines(
            martlet: try LocalRun.executable(), broker: run.broker.uri, configuration: run.configurationFile,
            control: control, gateway: run.simulator.port, admin: run.simulator.adminPort ?? 0,
            workers: workers.map { ($0.name, $0.adminPort, $0.process.processID, run.logFile(of: $0.name)) })
    }

    /// The commands.
    static func lines(
        martlet: String, broker: String, configuration: String, control: String, gateway: Int, admin: Int,
        workers: [(name: String, adminPort: Int, processID: Int32, log: String)]
    ) -> [String] {
        let topic = "com.example.shop"
        var lines = [
            "", "Everything keeps running until Ctrl-C. Copy and paste to look closer:", "",
            "  # push a job of your own, and see its result",
            "  \(martlet) push --broker \(broker) --topic \(topic) --environment development "
                + "--alert Hello --wait 600d0000\(String(repeating: "0", count: 56))",
            "  # results as they come; what the results queue holds; dead letters",
            "  \(martlet) results --broker \(broker) --follow",
            "  \(martlet) results --broker \(broker) --drain --yes --summary",
            "  \(martlet) dead list --broker \(broker)",
            "  # is everything reachable?",
            "  \(martlet) check --config \(configuration)",
            "  # what APNs (https://localhost:\(gateway)) saw: how often what was answered, and every push",
            "  curl -s http://127.0.0.1:\(admin)/counts", "  curl -s http://127.0.0.1:\(admin)/ledger | tail -n 3",
            "  # the broker (\(broker))",
            "  sh \(control) list_queues name messages consumers",
            "  # the workers: ready? how fast? kill one and watch the other take over",
        ]
        for worker in workers {
            lines.append("  curl -s http://127.0.0.1:\(worker.adminPort)/readyz   # \(worker.name); also /metrics")
            lines.append("  tail -n 5 \(worker.log)")
        }
        if let last = workers.last { lines.append("  kill -9 \(last.processID)   # \(last.name)") }
        lines.append("")
        return lines
    }

    /// A shell script that runs `rabbitmqctl` with the private broker's environment.
    static func controlScript(_ environment: [String: String]) -> String {
        var lines = ["#!/bin/sh"]
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            let quoted = value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            lines.append("export \(name)='\(quoted)'")
        }
        lines.append(#"exec /usr/lib/rabbitmq/bin/rabbitmqctl --quiet "$@""#)
        return lines.joined(separator: "\n") + "\n"
    }
}
