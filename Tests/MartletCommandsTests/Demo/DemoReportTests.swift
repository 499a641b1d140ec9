import Histogram
import LocalStack
import Rig
import Testing

@testable import MartletCommands

@Suite("What the demo tells", .timeLimit(.minutes(1)))
struct DemoReportTests {
    /// A report about one job that was promised.
    private func report(
        killed: String? = "worker-1", refused: Int = 0, _ change: (inout RunAudit.State) -> Void
    ) -> DemoReport {
        var state = RunAudit.State()
        state.ledger.promised(job: "j")
        change(&state)
        return DemoReport(
            seed: 4, jobs: 1, refused: refused, killedWorker: killed, state: state, balance: state.ledger.balance(),
            deadLetters: ["apns.q.dead": 1_234, "apns.q.dead.tokens": 0])
    }

    /// The job was accepted, so many times.
    private func accept(_ state: inout RunAudit.State, times: Int = 1, redelivered: Bool = false) {
        for _ in 0..<times {
            state.ledger.reported(
                RunLedger.Key(job: "j", index: 0), attempt: 1, messageID: "m", ending: .accepted,
                isRedelivered: redelivered, apnsID: "a")
            state.ledger.accepted(apnsID: "a")
        }
        state.outcomes[ResultRecord.Kind(outcome: "accepted", status: 200)] = 1
        if redelivered { state.redelivered = times }
        for milliseconds: Int64 in [10, 20, 30] { state.took(milliseconds) }
        state.firstAttempts = 5_000
        state.firstAttemptSpan = 1_000...3_000
    }

    @Test("A clean run: outcomes, times, throughput, dead letters, lost 0")
    func clean() {
        let report = report { accept(&$0) }
        #expect(report.isClean)
        let lines = report.lines(colour: false)
        #expect(lines.last == "  lost 0")
        #expect(lines.contains("  accepted                1  100.0 %  200"))
        #expect(lines.contains { $0.hasPrefix("  latency        p50 20 ms, p90 30 ms, p99 30 ms, max 30 ms") })
        #expect(lines.contains { $0.hasPrefix("  throughput     2 500 notifications/s") })
        #expect(lines.contains("  dead letters   apns.q.dead 1 234, apns.q.dead.tokens 0"))
        #expect(lines.contains("  duplicates     none"))
        #expect(report.lines(colour: true).last == "  \u{1b}[32mlost 0\u{1b}[0m")
    }

    @Test("The end of a clean run fits a terminal of 24 lines and 80 columns, with a green verdict last")
    func size() {
        var report = report { state in
            accept(&state, times: 2, redelivered: true)
            let outcomes = [
                "accepted", "dead_token", "rejected", "invalid", "expired", "exhausted", "unknown", "cancelled",
            ]
            for (index, outcome) in outcomes.enumerated() {
                for reason in ["A", "PayloadTooLarge", "a longer reason than any of Apple's"].prefix(index + 1) {
                    let kind = ResultRecord.Kind(outcome: outcome, status: index > 0 ? 400 : nil, reason: reason)
                    state.outcomes[kind] = 12_345
                }
            }
            for milliseconds: Int64 in [500, 59_900, 59_900, 100_000] { state.took(milliseconds) }
            (state.firstAttempts, state.redelivered) = (100_000_000, 12_345)
        }
        let accounts = DemoDevicePlan.owners.map { owner in
            var account = DemoDeviceAccount(DemoDevices.Member(owner: owner, tokens: [:], arrivals: []), pushes: [])
            (account.accepted, account.received) = (19, 19)
            if owner.fate == .leaves { (account.onReturn, account.replaced) = (3, 3) }
            if owner.fate == .uninstalls { account.unregistered = 4 }
            return account
        }
        report.devices = accounts
        #expect(report.isClean)
        let lines = report.lines(colour: false)
        #expect(lines.allSatisfy { $0.count < 80 }, "\(lines.joined(separator: "\n"))")
        // The prompt of a shell is below.
        #expect(lines.count <= 23, "\(lines.joined(separator: "\n"))")
        #expect(lines.contains { $0.contains("Eve 19 (3 on return, 3 replaced)") })
        #expect(report.lines(colour: true).last == "  \u{1b}[32mlost 0\u{1b}[0m")
    }

    @Test("Something that starts shows for how long it has")
    func pulse() {
        #expect(DemoPulse.line("RabbitMQ is starting", after: .milliseconds(1_460)) == "  RabbitMQ is starting: 1.4 s")
    }

    @Test("An outcome with several reasons has one line with all of them")
    func reasons() {
        let report = report { state in
            accept(&state)
            state.outcomes[ResultRecord.Kind(outcome: "invalid", reason: "BadTopic")] = 3
            state.outcomes[ResultRecord.Kind(outcome: "invalid", status: 413, reason: "PayloadTooLarge")] = 6
        }
        #expect(
            report.lines(colour: false).contains(
                "  invalid                 9   90.0 %  413 PayloadTooLarge 6, BadTopic 3"))
    }

    @Test("What an operator cancelled is an outcome of its own, without a reason")
    func cancelled() {
        let report = report { state in
            state.ledger.reported(
                RunLedger.Key(job: "j", index: 0), attempt: 1, messageID: "m", ending: .cancelled, isRedelivered: false,
                apnsID: "a")
            state.outcomes[ResultRecord.Kind(outcome: "cancelled")] = 1
        }
        #expect(report.isClean && report.lines(colour: false).contains("  cancelled               1  100.0 %"))
    }

    @Test("Duplicates are explained by the killed worker")
    func explained() {
        let report = report { accept(&$0, times: 2, redelivered: true) }
        #expect(report.isClean)
        let line = report.lines(colour: false).first { $0.hasPrefix("  duplicates") }
        #expect(line?.contains("1 pushed twice, all explained") == true)
        #expect(line?.contains("worker-1 was killed") == true)
    }

    @Test("What is lost or unexplained is listed, and spoils the verdict")
    func complaints() {
        let lost = report { _ in }
        #expect(!lost.isClean)
        #expect(
            lost.lines(colour: false).suffix(5) == [
                "", "  1 never became final:", "    j#0", "", "  lost 1  (not everything is as it should be)",
            ])
        let twice = report { accept(&$0, times: 2) }
        #expect(!twice.isClean)
        #expect(twice.lines(colour: false).contains("  1 pushed twice without a reason:"))
    }

    @Test("A refused job or a reader that failed spoils the verdict, too")
    func spoiled() {
        #expect(!report(refused: 1) { accept(&$0) }.isClean)
        #expect(
            !report { state in
                accept(&state)
                state.failure = "gone"
            }.isClean)
    }

    @Test("Programs get the same as JSON")
    func json() {
        let text = report { accept(&$0, times: 2, redelivered: true) }.json.description
        #expect(
            text.hasPrefix(#"{"seed":"4","jobs":1,"refused":0,"notifications":1,"outcomes":[{"outcome":"accepted""#))
        #expect(text.contains(#""latency_ms":{"p50":20,"p90":30,"p99":30,"max":30}"#))
        #expect(text.contains(#""explained_duplicates":1,"unexplained_duplicates":0"#))
        #expect(text.hasSuffix(#""lost":0,"clean":true}"#))
    }

    @Test("What a device did not get, or did not show, spoils the verdict and is said")
    func devices() {
        var report = report { accept(&$0) }
        let ada = DemoDevicePlan.Owner(name: "Ada")
        let member = DemoDevices.Member(owner: ada, tokens: ["t": "aa"], arrivals: ["1"])
        let first = DemoDeviceAccount.Push(id: "1", token: "aa", status: 200, time: 1)
        report.devices = [DemoDeviceAccount(member, pushes: [first])]
        #expect(report.isClean)
        #expect(report.lines(colour: false).contains("  devices        Ada 1"))
        #expect(report.json.description.contains(#""devices":[{"name":"Ada","accepted":1,"received":1,"on_return":0"#))
        let second = DemoDeviceAccount.Push(id: "2", token: "aa", status: 200, time: 2)
        report.devices = [DemoDeviceAccount(member, pushes: [first, second])]
        #expect(!report.isClean)
        #expect(
            report.lines(colour: false).suffix(5) == [
                "", "  1 accepted by APNs (by apns-id), but never on the device:", "    Ada 2", "",
                "  lost 0  (not everything is as it should be)",
            ])
        #expect(report.json.description.hasSuffix(#""lost":0,"clean":false}"#))
    }

    @Test("The live lines fit the terminal, and are coloured only where that is wanted", arguments: [20, 80])
    func live(width: Int) {
        var status = DemoStatus()
        status.notifications = 1_000
        status.progress = DemoScript.Progress(promised: 500, open: 250, final: 250)
        status.outcomes = ["accepted": 249, "invalid": 1]
        status.workers = [("worker-1", .killed), ("worker-2", .running)]
        let lines = status.lines(width: width, colour: false)
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.count < width && !$0.contains("\u{1b}") })
        #expect(
            status.plainLine == "0 ms: promised 500, final 250 of 1 000, 0/s, accepted 249, invalid 1, worker-1 killed")
        status.devices = [
            DemoStatus.Device(name: "Ada", state: "online", received: 12, last: "shop: Number 7 for Ada"),
            DemoStatus.Device(name: "Eve", state: "offline", received: 3, last: ""),
        ]
        let more = status.lines(width: width, colour: false)
        #expect(more.count == 6)
        #expect(more.allSatisfy { $0.count < width })
        #expect(status.plainLine.hasSuffix("worker-1 killed, devices got 15, Eve offline"))
        guard width == 80 else { return }
        #expect(more[4] == "  Ada        online    12  shop: Number 7 for Ada")
        #expect(lines[0] == "  published  [###############---------------]    500 of 1 000")
        #expect(lines[2] == "  outcomes   accepted 249  invalid 1")
        #expect(status.lines(width: width, colour: true)[3].contains("\u{1b}[31mkilled\u{1b}[0m"))
    }

    @Test("Every command to look closer names its address")
    func hints() {
        let lines = DemoHints.lines(
            martlet: "/bin/martlet", broker: "amqp://b/", management: "http://b:9/", configuration: "/t/martlet.yaml",
            control: "/t/rabbitmqctl", gateway: 1, admin: 2,
            device: DemoHints.Device(owner: "Ada", token: "abcd", port: 5, authority: "/t/ca.pem", state: "/t/d"),
            workers: [("worker-2", 3, 4, "/t/worker-2.log")])
        #expect(lines.contains("  export MARTLET_BROKER_URI=amqp://b/"))
        #expect(lines.contains("  export MARTLET_BROKER_MANAGEMENT=http://b:9/"))
        #expect(lines.contains("  export PATH=/bin:$PATH"))
        let commands = lines.filter { $0.hasPrefix("  martlet ") }
        #expect(commands.count == 8)
        #expect(commands.contains("  martlet status --config /t/martlet.yaml --watch"))
        let addresses = ["--config /t/martlet.yaml", "--simulator localhost:5 --ca /t/ca.pem"]
        #expect(addresses.allSatisfy { address in commands.contains { $0.contains(address) } })
        #expect(commands.contains { $0.hasSuffix("--wait abcd") })
        #expect(lines.contains("  http://127.0.0.1:2/"))
        #expect(lines.contains("  curl -s http://127.0.0.1:2/counts"))
        #expect(lines.contains("  kill -9 4   # worker-2"))
    }

    @Test("The broker's environment survives the shell")
    func control() {
        let script = DemoHints.controlScript(["B": "it's", "A": "{1,2} x"])
        #expect(script.hasPrefix("#!/bin/sh\nexport A='{1,2} x'\nexport B='it'\\''s'\nexec "))
    }
}
