import APNSSimulator
import LocalStack
import Rig
import TestSupport

// The way to APNs falls silent, or something on it speaks in the place of APNs.
extension FaultCatalogue {
    /// Faults of this kind.
    static let way = [threeSeconds, forgetfulNAT, mistakenRefusals, gateways]

    fileprivate static let connections = "martlet_apns_connections"
    fileprivate static let opened = "martlet_apns_connections_opened_total"

    private static let threeSeconds = Fault(
        180, name: "three seconds without a packet to or from APNs",
        expects: "Asks by PING, goes on elsewhere, comes back: nothing twice, no connection more",
        setup: { $0.jobs = 0 }
    ) { ring in
        ring.atEnd { try? ring.dropNothing() }
        try await ring.publish(200, prefix: "1")
        try await ring.untilDone()
        try await ring.awaitCountedConnections()
        let (before, pushes) = (try await ring.metric(connections), ring.pushes)
        let port = ring.simulator.port
        try await ring.strike { try $0.drop(["tcp dport \(port)", "tcp sport \(port)"]) }
        try await ring.publish(40, prefix: "1")
        try await ring.endure(.seconds(3))
        ring.expect(try ring.dropped > 0, "nothing was dropped: the run says nothing")
        try ring.dropNothing()
        try await ring.untilDone()
        ring.expect(ring.pushes == pushes + 40, "\(ring.pushes - pushes) pushes for 40 notifications")
        try await ring.until("there are as many connections as before") {
            try ring.worker.metric(connections) == before
        }
        ring.note("\(Int(try await ring.metric(opened) - before)) connections opened in between")
    }

    private static let forgetfulNAT = Fault(
        181, name: "a NAT that forgets an idle connection", expects: "New pushes take another connection after 3 s",
        setup: {
            $0.jobs = 0
        }
    ) { ring in
        ring.atEnd { try? ring.dropNothing() }
        try await ring.publish(200, prefix: "1")
        try await ring.untilDone()
        try await ring.awaitCountedConnections()
        let port = ring.simulator.port
        let listed = try ring.run("/usr/bin/ss", "-Htn", "state", "established", "dport", "=", ":\(port)")
        let own = listed.split(separator: "\n").compactMap { line in
            line.split(whereSeparator: \.isWhitespace).dropFirst(2).first?.split(separator: ":").last
        }
        ring.expect(!own.isEmpty, "no connection was found: the run says nothing")
        let lost = own.flatMap { ["tcp dport \(port) tcp sport \($0)", "tcp sport \(port) tcp dport \($0)"] }
        let before = try await ring.metric(opened)
        try await ring.strike { try $0.drop(lost) }
        // One for each connection: a connection that nobody asks is not known to be silent.
        for _ in own {
            try await ring.publish(1, prefix: "1")
            try await ring.endure(.milliseconds(200))
        }
        try await ring.until("another connection is open") { try ring.worker.metric(opened) > before }
        try await ring.endure(.seconds(1))
        let accepted = ring.answered("")
        let began = ContinuousClock.now
        try await ring.publish(300, prefix: "1")
        try await ring.until("new pushes are accepted") { ring.answered("") >= accepted + 300 }
        let took = FaultBench.seconds(began.duration(to: .now))
        ring.note("300 new pushes took \(took) s")
        ring.expect(began.duration(to: .now) < .seconds(10), "new pushes waited for the lost connection: \(took) s")
        // What was under way ends at its own time.
        try await ring.untilDone()
        try ring.dropNothing()
    }

    private static let mistakenRefusals = Fault(
        182, name: "403 for a good key, now and then", expects: "A new connection asks; the route never parks",
        setup: {
            $0.neighbour = true
            $0.jobs = 0
        }
    ) { ring in
        let prefixes = (1...6).map { "e\($0)" }
        ring.simulator.control.use(
            Scenario(rules: prefixes.map { .once($0, Verdict(.refuse(.invalidProviderToken))) }))
        try await ring.publish(400, prefix: "1")
        try await ring.untilDone()
        let began = ContinuousClock.now
        for prefix in prefixes {
            try await ring.publish(400, prefix: "1")
            try await ring.publish(1, prefix: prefix)
            try await ring.untilDone()
        }
        ring.note("2,406 pushes took \(FaultBench.seconds(began.duration(to: .now))) s")
        let refused = ring.answered("InvalidProviderToken")
        ring.expect(refused == 6, "\(refused) refusals instead of 6")
        ring.expect(try !ring.worker.log.contains("the route is parked"), "the route parked")
        ring.expect(
            try ring.worker.log.contains("a new connection asks again"), "the log does not tell of the refusals")
    }

    private static let gateways = Fault(
        183, name: "a gateway answers in the place of APNs",
        expects: "Nothing is believed of it; everything is accepted",
        setup: {
            $0.neighbour = true
            $0.jobs = 0
        }
    ) { ring in
        let page = "<html><h1>Welcome</h1></html>"
        let answers: [(prefix: String, answer: Verdict.Stranger)] = [
            ("e1", .init(status: 200, body: page)), ("e2", .init(status: 200)), ("e3", .init(status: 302)),
            ("e4", .init(status: 403, body: page)), ("e5", .init(status: 404, body: page)),
            ("e6", .init(status: 410, body: page)), ("e7", .init(status: 413)),
        ]
        ring.simulator.control.use(Scenario(rules: answers.map { .once($0.prefix, Verdict(.gateway($0.answer))) }))
        for (prefix, _) in answers { try await ring.publish(20, prefix: prefix) }
        try await ring.until("everything was accepted") { ring.answered("") >= answers.count * 20 }
        try await ring.untilDone()
        for (prefix, answer) in answers {
            ring.expect(ring.answered("gateway:\(answer.status)") > 0, "\(prefix): no gateway answered")
        }
        ring.expect(try await ring.outcomes() == ["accepted": answers.count * 20], "not everything was accepted")
        try await ring.awaitLog("something else than APNs answers a route's pushes", of: try ring.worker)
        ring.expect(try !ring.worker.log.contains("APNs refuses the credential"), "a gateway's 403 counted as APNs'")
    }
}

extension FaultRing {
    /// Waits until the worker has counted its connections: it does so a moment after their first answers.
    fileprivate func awaitCountedConnections() async throws {
        try await until("its connections are counted") {
            let count = try self.worker.metric(FaultCatalogue.connections)
            return try count > 0 && count == self.worker.metric(FaultCatalogue.opened)
        }
    }
}
