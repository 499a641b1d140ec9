import LocalStack
import PushModel
import RabbitMQ
import Rig
import TestSupport
import Topology

// What arrives is not what the contract says.
extension FaultCatalogue {
    /// Faults of producers and of whatever answers instead of the broker.
    static let badInput = [
        Fault(
            30, name: "unreadable jobs", expects: "Each is answered at once as invalid, among good jobs", isQuick: true,
            setup: refusing
        ) { ring in
            let bad = (0..<500).map { unreadable[$0 % unreadable.count].with { _ in } }
            try await ring.publish(bad: bad, among: 1_000)
            try await ring.awaitReady()
        },
        Fault(
            31, name: "oversized bodies", expects: "Answered as invalid without being held in memory",
            setup: {
                refusing(&$0)
                // What no worker holds, only the broker can write a dead letter of.
                $0.brokerDeadLetters = 24
            }
        ) { ring in
            var sizes = Array(repeating: 5_000, count: 50) + Array(repeating: 1_000_000, count: 20)
            sizes += [15_000_000, 15_000_000, 15_000_000, 120_000_000]
            try await ring.publish(bad: sizes.map { size in FaultMessage().with { $0.size = size } }, among: 1_000)
            try await ring.awaitReady()
        },
        Fault(
            32, name: "huge and nested headers", expects: "Answered as invalid; what is only odd is pushed",
            setup: refusing
        ) { ring in
            var bad: [FaultMessage] = []
            for depth in [9, 100, 5_000, 15_000] { bad.append(FaultMessage().with { $0.nesting = depth }) }
            for size in [40_000, 130_000] {
                let filler = FieldValue.text([UInt8](repeating: 0, count: size))
                bad.append(FaultMessage().with { $0.headers = [.init(name: Array("filler".utf8), value: filler)] })
            }
            bad += bad.map { $0.with { _ in } } + bad.map { $0.with { _ in } }
            try await ring.publish(bad: bad, among: 1_000)
            let pushes = ring.pushes
            try await ring.publish(
                (0..<100).map { number in
                    FaultMessage().with { message in
                        message.token = RunJob.several(1)[0].token
                        message.headers = [odd[number % odd.count]]
                    }
                })
            try await ring.until("what is only odd is pushed") { ring.pushes == pushes + 100 }
            try await ring.awaitReady()
        },
        Fault(
            33, name: "somebody else answers for the broker",
            expects: "Drops the connection, whatever comes, and asks again", setup: { $0.brokerProxy = true }
        ) { ring in
            let impostor = try FaultImpostor(in: ring.local.directory, seed: FaultSelection.seed)
            try await ring.strike {
                $0.brokerProxy?.redirect(to: impostor.port)
                $0.brokerProxy?.reset()
            }
            try await ring.until("every answer was given") {
                guard try ring.worker.process.isRunning else { throw FaultFailure("the worker has ended") }
                return Set(impostor.connections).count == FaultImpostor.answers
            }
            ring.note("\(FaultImpostor.answers) answers, \(impostor.connections.count) connections")
            ring.brokerProxy?.redirect(to: ring.broker.port)
            ring.brokerProxy?.reset()
            try await ring.awaitReady()
        },
        brokenCampaign,
    ]

    fileprivate static let brokenCampaign = Fault(
        147, name: "multicasts that break a rule",
        expects: "Each device has its result, in bounded memory; another route's pushes do not wait for them",
        setup: {
            refusing(&$0)
            $0.jobs = 0
            $0.apps.append(LocalRun.App(route: "news", topic: "com.example.news"))
        }
    ) { ring in
        let (messages, devices) = (100, 1_000)
        try await ring.until("the worker is ready") { try ring.worker.isReady }
        let tokens = Array(repeating: "\"\(FaultMessage.unusedToken)\"", count: devices).joined(separator: ",")
        // There is no such priority.
        var message = FaultMessage.enveloped(#"{"device_tokens":[\#(tokens)],"priority":7,"payload":{"aps":{}}}"#)
        message.notifications = devices
        try await ring.publish((0..<messages).map { _ in message.with { _ in } })
        var jobs = RunJob.several(1_000)
        for index in jobs.indices { jobs[index].topic = "com.example.news" }
        try await ring.publish(jobs)
        try await ring.until("the other route's jobs are pushed") { ring.pushes == 1_000 }
        let dead = try ring.broker.queueCounts()[TopologyNames.deadQueue]?.total ?? 0
        ring.note("\(dead) of \(messages) multicasts were settled when 1,000 pushes of another route were done")
        ring.expect(dead < messages / 2, "the pushes waited for the refusals")
        try await ring.until("every multicast is settled") {
            try ring.broker.queueCounts()[TopologyNames.deadQueue]?.total == messages
        }
        ring.expect(ring.pushes == 1_000, "refused jobs were pushed")
        try await ring.awaitReady()
    }

    /// Jobs that cannot be read, or break a rule.
    private static let unreadable = [
        FaultMessage.enveloped(""),
        .enveloped("["),
        .enveloped(#"["no","object"]"#),
        .enveloped(#"{"device_token":17,"payload":{"aps":{}}}"#),
        .enveloped(#"{"device_token":"\#(FaultMessage.unusedToken)"}"#),
        .enveloped(#"{"payload":{"aps":{"alert":"is on its way"}}}"#),
        .enveloped(#"{"device_token":"\#(FaultMessage.unusedToken)","payload":{},"topic":"com.example.elsewhere"}"#),
        .enveloped(String(repeating: #"{"a":["#, count: 20_000)),
        FaultMessage(contentType: "text/plain"),
        FaultMessage(contentType: nil),
        FaultMessage(token: nil),
        FaultMessage(token: "not hexadecimal"),
        FaultMessage(key: "development.normal.com.example.nobody"),
        FaultMessage(headers: [FieldTable.Entry(name: Array("apns-priority".utf8), value: .text("ten"))]),
        FaultMessage(headers: [FieldTable.Entry(name: Array("apns-priority".utf8), value: .table(FieldTable()))]),
        FaultMessage(contentType: "application/json", body: [UInt8](repeating: 0xFF, count: 300)),
        FaultMessage(body: []),
    ]

    /// Headers that mean nothing to a worker, with values of every kind.
    private static let odd = [
        FieldValue.text([0, 0xFF, 0]), .bytes([0]), .integer(.min), .unsigned(.max), .boolean(true), .timestamp(.max),
        .float(.pi), .double(-.pi), .decimal(scale: 255, value: .max), .table(FieldTable()), .array([.void]),
        .void,
    ].map { FieldTable.Entry(name: [UInt8](repeating: UInt8(ascii: "o"), count: 128), value: $0) }

    /// Bad jobs end as invalid, beside a neighbour that has none.
    private static func refusing(_ setup: inout FaultSetup) {
        setup.outcomes.insert("invalid")
        setup.neighbour = true
    }
}
