import Foundation
import Testing
import Text

@testable import PushModel

@Suite("Results", .timeLimit(.minutes(1)))
struct ResultReportTests {
    private let origin = ResultOrigin(route: "example", worker: "host-7f9c")

    private func body(_ report: ResultReport, _ job: Job, _ origin: ResultOrigin? = nil) -> String {
        var buffer: [UInt8] = [0x21]
        report.appendBody(for: job, from: origin ?? self.origin, to: &buffer)
        return String(decoding: buffer.dropFirst(), as: UTF8.self)
    }

    @Test("the contract's example is written as the contract writes it")
    func example() throws {
        let job = try MessageBuilder.raw {
            $0.headers += [
                ("x-apns-reference", .text("campaign-7/user-81")), ("x-apns-enqueued-at", .integer(1_763_712_800_100)),
            ]
        }.job()
        let final = FinalReport(
            .deadToken, .dropToken, status: 410, reason: .unregistered, tokenInvalidSince: 1_763_712_764_120)
        let report = ResultReport(
            index: 0, final: final, finishedAt: 1_763_712_800_174, queueMilliseconds: 31, apnsMilliseconds: 41)
        let expected =
            #"{"job_id":"\#(MessageBuilder.id)","index":0,"outcome":"dead_token","action":"drop_token","status":410,"#
            + #""reason":"Unregistered","detail":null,"device_token":"\#(MessageBuilder.token)","#
            + #""token_invalid_since":1763712764120,"reference":"campaign-7/user-81","#
            + #""apns_id":"\#(MessageBuilder.id)","apns_unique_id":null,"topic":"com.example.app","#
            + #""environment":"production","route":"example","attempt":1,"redelivered":false,"#
            + #""enqueued_at":1763712800100,"finished_at":1763712800174,"queue_ms":31,"apns_ms":41,"#
            + #""worker":"host-7f9c"}"#
        #expect(body(report, job) == expected)
    }

    /// Every field of the contract.
    static let fields: Set<String> = [
        "job_id", "index", "outcome", "action", "status", "reason", "detail", "device_token", "token_invalid_since",
        "reference", "apns_id", "apns_unique_id", "topic", "environment", "route", "attempt", "redelivered",
        "enqueued_at", "finished_at", "queue_ms", "apns_ms", "worker",
    ]

    private func parsed(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("every field is present in every result, null where it does not apply")
    func allFields() throws {
        let defect = try MessageBuilder.enveloped("{") { $0.routingKey = "x" }.defect()
        let report = ResultReport(index: 0, final: defect.report, finishedAt: 5)
        let result = try parsed(body(report, defect.job, ResultOrigin(route: nil, worker: "w")))
        #expect(Set(result.keys) == Self.fields)
        for name in [
            "status", "device_token", "token_invalid_since", "reference", "apns_id", "apns_unique_id", "topic",
            "environment", "route", "enqueued_at", "queue_ms", "apns_ms",
        ] { #expect(result[name] is NSNull, "\(name)") }
        #expect(result["outcome"] as? String == "invalid" && result["action"] as? String == "fix_request")
        #expect(result["reason"] as? String == "BadJSON" && result["detail"] as? String == defect.detail)
    }

    @Test("a result says when it stands for a redelivery that was not pushed again, and says nothing of it otherwise")
    func suppressed() throws {
        let job = try MessageBuilder.raw { $0.redelivered = true }.job()
        var report = ResultReport(index: 0, final: FinalReport(.accepted, .none, status: 200), finishedAt: 1)
        #expect(try parsed(body(report, job))["duplicate"] == nil)
        report.isSuppressedDuplicate = true
        let result = try parsed(body(report, job))
        #expect(result["duplicate"] as? String == "suppressed")
        #expect(Set(result.keys) == Self.fields.union(["duplicate"]))
    }

    @Test("all texts are escaped, and the result is JSON whatever they hold")
    func escaped() throws {
        let nasty = "\"\\\n\u{1}ä😀</script>"
        var builder = MessageBuilder.raw {
            $0.set("x-apns-reference", .text(nasty))
            $0.messageID = nasty
            $0.redelivered = true
        }
        builder.routingKey = "development.high.com.example.app"
        let job = try builder.job()
        let final = FinalReport(.rejected, .fixTopic, status: 400, reason: Reason(rawValue: nasty), detail: nasty)
        let report = ResultReport(index: 0, final: final, apnsUniqueID: nasty.bytes, finishedAt: 1)
        let result = try parsed(body(report, job, ResultOrigin(route: nasty, worker: nasty)))
        for name in ["job_id", "reference", "reason", "detail", "apns_unique_id", "route", "worker"] {
            #expect(result[name] as? String == nasty, "\(name)")
        }
        #expect(result["redelivered"] as? Bool == true && result["environment"] as? String == "development")
    }

    @Test("the largest texts fit the room that is reserved")
    func largest() throws {
        let job = try MessageBuilder.raw {
            $0.messageID = String(repeating: "\u{1}", count: 255)
            $0.routingKey = "development.normal." + String(repeating: "a", count: 200)
            $0.set("x-apns-reference", .text(String(repeating: "\u{1}", count: 1_024)))
            $0.set("apns-device-token", .text(String(repeating: "a", count: 400)))
            $0.set("x-apns-enqueued-at", .integer(253_402_300_799_999))
        }.job()
        let text = String(repeating: "\u{1}", count: 5_000)
        let final = FinalReport(
            .deadToken, .fixCredential, status: .min, reason: Reason(rawValue: text), detail: text,
            tokenInvalidSince: .min)
        let report = ResultReport(
            index: 0, final: final, apnsUniqueID: text.bytes, finishedAt: .min, queueMilliseconds: .min,
            apnsMilliseconds: .min)
        let result = try parsed(body(report, job, ResultOrigin(route: text, worker: text)))
        #expect(result["detail"] as? String == text)
    }

    @Test("device tokens can be left out, and a bad one is")
    func tokens() throws {
        let job = try MessageBuilder.enveloped(#"{"device_tokens":["a1","xyz"],"payload":{}}"#).job()
        let final = FinalReport(.accepted, .none, status: 200)
        func token(_ index: Int, _ includes: Bool) throws -> Any? {
            let origin = ResultOrigin(route: "r", worker: "w", includesDeviceToken: includes)
            let report = ResultReport(index: index, final: final, finishedAt: 0)
            return try parsed(body(report, job, origin))["device_token"]
        }
        #expect(try token(0, true) as? String == "a1")
        #expect(try token(0, false) is NSNull)
        #expect(try token(1, true) is NSNull)
    }

    @Test("each notification of a multicast has its own index and apns-id")
    func multicast() throws {
        let job = try MessageBuilder.enveloped(#"{"device_tokens":["a1","b2"],"payload":{}}"#) {
            $0.messageID = "job-1"
        }.job()
        let report = ResultReport(index: 1, final: FinalReport(.accepted, .none, status: 200), finishedAt: 0)
        let result = try parsed(body(report, job))
        #expect(result["index"] as? Int == 1 && result["device_token"] as? String == "b2")
        #expect(result["apns_id"] as? String == job.apnsID(1).description)
    }

    @Test(
        "a result is named by job, replay, attempt and index",
        arguments: [
            (MessageBuilder.id, nil, 1, 0, "3cdd55aa-9b60-5de9-b1e1-1b251eda9143"),
            ("job-1", "replay-7", 2, 3, "af08c07c-1fd2-594a-be09-9184914b0b3c"),
            ("order 4711", nil, 6, 12, "dfd6ba69-9e63-56a6-9867-311721f5357f"),
            ("ä", nil, 1, 0, "f13a050d-61e1-50ae-af26-aed12bfc7b6b"),
        ] as [(String, String?, Int, Int, String)])
    func messageID(_ id: String, _ replay: String?, _ attempt: Int, _ index: Int, _ expected: String) throws {
        let job = try MessageBuilder.raw {
            $0.messageID = id
            $0.set("x-apns-replay", replay.map { .text($0) })
            $0.way = .returned
            $0.headers += [("x-apns-v", .integer(1)), ("x-apns-attempt", .integer(Int64(attempt)))]
        }.job()
        #expect(ResultReport.messageID(of: index, for: job).description == expected)
    }

    @Test(
        "routing keys name outcome, environment and topic; what is not known is a dash",
        arguments: [
            ("production.high.com.example.app", "{", "invalid.production.com.example.app"), ("x", "{", "invalid.-.-"),
            ("x", #"{"environment":"development"}"#, "invalid.development.-"),
            ("development.normal.no_topic", "{}", "invalid.development.-"),
            ("production.sideways.a.b", #"{"topic":"a.b"}"#, "invalid.production.a.b"),
            ("x", #"{"topic":"a.b"}"#, "invalid.-.a.b"), ("x", #"{"topic":"a b"}"#, "invalid.-.-"),
            ("x", #"{"topic":"*.#","environment":"sandbox"}"#, "invalid.-.-"), ("", "", "invalid.-.-"),
        ])
    func routingKeys(_ key: String, _ body: String, _ expected: String) throws {
        let defect = try MessageBuilder.enveloped(body) { $0.routingKey = key }.defect()
        var buffer: [UInt8] = []
        ResultReport(index: 0, final: defect.report, finishedAt: 0).appendRoutingKey(for: defect.job, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
    }

    @Test("each outcome and action is spelled as the contract spells it")
    func spelling() {
        let outcomes = [
            "accepted", "dead_token", "rejected", "expired", "exhausted", "unknown", "invalid", "cancelled",
        ]
        #expect(Outcome.allCases.map(\.rawValue) == outcomes)
        #expect(Outcome.allCases.map(\.text.description) == outcomes)
        let actions = ["none", "drop_token", "hold", "fix_request", "fix_topic", "fix_credential", "replay", "check"]
        #expect(Action.allCases.map(\.rawValue) == actions)
        #expect(Action.allCases.map(\.text.description) == actions)
        #expect(Outcome.allCases.filter { !$0.isDeadLetter } == [.accepted])
        for environment in APNSEnvironment.allCases { #expect(environment.text.description == environment.rawValue) }
        for jobClass in JobClass.allCases { #expect(jobClass.text.description == jobClass.rawValue) }
    }
}
