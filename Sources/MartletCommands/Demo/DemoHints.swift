import APNSSimulator
import LocalStack
import Rig
import Text

/// The commands to look closer at a demo that keeps running.
struct DemoHints {
    /// The text at the end of a demo that does not keep running.
    static let later = [
        "",
        "To look closer, keep everything running: `KEEP=1 make run`, or `martlet demo --keep`. It prints commands for",
        "results, dead letters, pushes, devices and their page, the simulator's ledger and rabbitmqctl.",
    ]

    /// The text, line by line.
    let lines: [String]

    /// Writes the commands down, and a `rabbitmqctl` for the private broker.
    ///
    /// - Parameters:
    ///   - run: What keeps running.
    ///   - workers: The workers that keep running.
    ///   - devices: The devices that keep running.
    init(_ run: LocalRun, _ workers: [DemoWorkers.Member], _ devices: [DemoDevices.Member]) throws {
        let control = try run.directory.write(Self.controlScript(run.broker.environment), to: "rabbitmqctl")
        let app = DemoJobMix.apps[0].topic
        // Some clients take a slash at the end for a virtual host without a name.
        let broker = run.broker.uri.hasSuffix("/") ? String(run.broker.uri.dropLast()) : run.broker.uri
        lines = Self.lines(
            martlet: try LocalRun.executable(), broker: broker, management: run.broker.managementURI,
            configuration: run.configurationFile,
            control: control, gateway: run.simulator.port, admin: run.simulator.adminPort ?? 0,
            device: Device(
                owner: devices.first?.owner.name ?? "", token: devices.first?.tokens[app] ?? "",
                port: run.simulator.devicePort ?? 0, authority: run.simulator.authorityFile,
                state: run.directory.file("device-of-mine")),
            workers: workers.map { ($0.name, $0.adminPort, $0.process.processID, run.logFile(of: $0.name)) })
    }

    /// What the commands about devices need.
    struct Device {
        /// Whose device gets the push.
        var owner: String
        /// Its device token.
        var token: String
        /// The port that devices connect to.
        var port: Int
        /// The file with the simulator's authority.
        var authority: String
        /// Where another device may keep its state.
        var state: String
    }

    /// The commands.
    static func lines(
        martlet: String, broker: String, management: String, configuration: String, control: String, gateway: Int,
        admin: Int, device: Device, workers: [(name: String, adminPort: Int, processID: Int32, log: String)]
    ) -> [String] {
        let topic = DemoJobMix.apps[0].topic
        let directory = martlet.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        var lines = [
            "", "Everything keeps running until Ctrl-C. Copy and paste to look closer:", "",
            "  # first, for the terminal that you paste into: the broker, and where martlet is",
            "  export MARTLET_BROKER_URI=\(broker)", "  export MARTLET_BROKER_MANAGEMENT=\(management)",
            "  export PATH=\(directory):$PATH",
            "  # the devices as phones, live, and the connections: open in a browser",
            "  http://127.0.0.1:\(admin)/",
            "  # push a job of your own to \(device.owner), and see its result",
            "  martlet push --topic \(topic) --environment development --alert Hello --wait \(device.token)",
            "  # be another device: it prints its device token, to push to, and shows what arrives",
            "  martlet device --simulator localhost:\(device.port) --ca \(device.authority) --state \(device.state) "
                + "--app \(topic)",
            "  # results as they come; what the results queue holds; dead letters",
            "  martlet results --follow",
            "  martlet results --drain --yes --summary",
            "  martlet dead list",
            "  # queues, workers, routes and dead letters at a glance, and what to do next",
            "  martlet status --config \(configuration) --watch",
            "  # what operators asked of all workers, and what stands: a part of the campaign is cancelled",
            "  martlet control",
            "  # is everything reachable?",
            "  martlet check --config \(configuration)",
            "  # what APNs (https://localhost:\(gateway)) saw: how often what was answered, and every push",
            "  curl -s http://127.0.0.1:\(admin)/counts", "  curl -s http://127.0.0.1:\(admin)/ledger | tail -n 3",
            "  curl -s http://127.0.0.1:\(admin)/connections",
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
            lines.append("export \(name)=\(ShellText.inQuotes(value))")
        }
        lines.append(#"exec /usr/lib/rabbitmq/bin/rabbitmqctl --quiet "$@""#)
        return lines.joined(separator: "\n") + "\n"
    }
}
