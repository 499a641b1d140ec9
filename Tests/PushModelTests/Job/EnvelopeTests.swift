import Testing
import Text

@testable import PushModel

@Suite("Enveloped jobs", .timeLimit(.minutes(1)))
struct EnvelopeTests {
    @Test("every field of the contract is read, and the payload is left as written")
    func everything() throws {
        let job = try MessageBuilder.enveloped(try Fixture.text("accepted/contract-example")).job()
        #expect(job.text(job.jobID) == "job-1" && !job.generatedID)
        #expect(job.tokenTexts == [MessageBuilder.token])
        #expect(job.text(job.topic) == "com.example.app" && job.environment == .production)
        #expect(job.pushType == .alert && job.priority == 10 && job.expiration == 1_795_264_800)
        #expect(job.text(job.collapseID) == "order-4711")
        #expect(job.apnsID(0).description == "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d91")
        #expect(job.deadline == 1_795_262_400_000)
        #expect(job.onUnknown == .retry)
        #expect(job.text(job.reference) == "campaign-7/user-81")
        #expect(job.text(job.payload) == #"{ "aps": { "alert": { "title": "Order shipped" } }, "order": "4711" }"#)
        #expect(job.unknownFields == 0 && !job.isMulticast)
    }

    @Test("headers win over the body")
    func precedence() throws {
        let fields = #""deadline":"2026-11-21T12:00:00Z","on_unknown":"retry","reference":"body""#
        let job = try MessageBuilder.enveloped(adding: fields) {
            $0.headers = [
                ("x-apns-deadline", .integer(1_795_000_000)), ("x-apns-on-unknown", .text("report")),
                ("x-apns-reference", .text("header")),
            ]
        }.job()
        #expect(job.deadline == 1_795_000_000_000 && job.onUnknown == .report)
        #expect(job.text(job.reference) == "header")
    }

    @Test("a job asks for its results in batches in its body or in a header, and asks for nothing by default")
    func batches() throws {
        #expect(try !MessageBuilder.enveloped(adding: "").job().wantsBatches)
        #expect(try MessageBuilder.enveloped(adding: #""results":"batch""#).job().wantsBatches)
        let header: (inout MessageBuilder) -> Void = { $0.set("x-apns-results", .text("batch")) }
        #expect(try MessageBuilder.enveloped(adding: "", header).job().wantsBatches)
        #expect(try MessageBuilder.raw(header).job().wantsBatches)
    }

    @Test("headers of raw jobs mean nothing here, and the detail says so")
    func rawHeaders() throws {
        let job = try MessageBuilder.enveloped(adding: "") {
            $0.headers = [("apns-device-token", .text("ffff")), ("apns-priority", .integer(1)), ("apns-x", .other)]
        }.job()
        #expect(job.tokenTexts == [MessageBuilder.token] && job.priority == 10)
        let defect = try MessageBuilder.enveloped(#"{"payload":{}}"#) {
            $0.headers = [("apns-device-token", .text("ffff"))]
        }.defect()
        #expect(defect.reason == .missingDeviceToken)
        #expect(defect.detail.contains("application/vnd.apns.payload+json"))
    }

    @Test("escapes are undone in every text")
    func escapes() throws {
        let body = #"""
            {"id":"job\/1","device_token":"\u0061\u0031","topic":"com\u002eexample.app","push_type":"voi\u0070",
             "collapse_id":"a\"b","reference":"caf\u00e9 \uD83D\uDE00","on_unknown":"\u0072eport",
             "deadline":"2026-11-21T12:00:00\u005a","environment":"\u0070roduction","payload":{"a":"\n"}}
            """#
        let job = try MessageBuilder.enveloped(body).job()
        #expect(job.text(job.jobID) == "job/1")
        #expect(job.tokenTexts == ["a1"])
        #expect(job.text(job.topic) == "com.example.app")
        #expect(job.pushType == .voip)
        #expect(job.text(job.collapseID) == "a\"b")
        #expect(job.text(job.reference) == "café 😀")
        #expect(job.onUnknown == .report && job.deadline == 1_795_262_400_000)
        #expect(job.text(job.payload) == #"{"a":"\n"}"#)
        #expect(job.text(job.body) == body)
    }

    @Test(
        "a payload whose aps holds only content-available makes a background push of priority 5",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, true), (#"{"a":1,"aps":{"content-available":1},"b":[]}"#, true),
            (#"{"aps":{ "content-available" : 1 }}"#, true), (#"{"aps":{}}"#, false), (#"{}"#, false),
            (#"{"aps":{"content-available":1,"alert":"x"}}"#, false), (#"{"aps":{"alert":"x"}}"#, false),
            (#"{"aps":1}"#, false), (#"{"aps":null}"#, false), (#"{"content-available":1}"#, false),
            (#"{"mdm":"x"}"#, false),
        ])
    func background(_ payload: String, _ isBackground: Bool) throws {
        let job = try MessageBuilder.enveloped(adding: "", payload: payload).job()
        #expect(job.pushType == (isBackground ? .background : .alert))
        #expect(job.priority == (isBackground ? 5 : 10))
        let given = try MessageBuilder.enveloped(adding: #""push_type":"alert""#, payload: payload).job()
        #expect(given.pushType == .alert && given.priority == 10)
        let suffix = try MessageBuilder.enveloped(adding: "", payload: payload) { $0.routingKey += ".voip" }.job()
        #expect(suffix.pushType == .voip)
    }

    @Test("an unknown push type passes as written, and unknown fields are counted")
    func unknown() throws {
        let job = try MessageBuilder.enveloped(adding: #""push_type":"hologram","a":1,"b":{"id":"x"}"#).job()
        guard case .other(let range) = job.pushType else {
            Issue.record("the type is unknown")
            return
        }
        #expect(job.text(range) == "hologram")
        #expect(!job.pushType.isKnown && job.unknownFields == 3, "two fields and the type")
    }

    @Test("a bad token of a multicast fails its own position only")
    func multicast() throws {
        let job = try MessageBuilder.enveloped(try Fixture.text("accepted/tokens-mixed")) { $0.messageID = "m" }.job()
        #expect(job.isMulticast && job.tokenCount == 8 && job.notificationCount == 8)
        let reasons = (0..<8).map { job.tokenDefect($0)?.reason }
        #expect(
            reasons == [
                nil, .badDeviceToken, .missingDeviceToken, .badDeviceToken, .badDeviceToken, .badDeviceToken, nil, nil,
            ])
        #expect(job.tokenTexts[0] == "a1" && job.tokenTexts[6] == "A1B2" && job.tokenTexts[7] == "a1")
    }

    @Test("a retry copy of a multicast is about the positions it names")
    func multicastCopy() throws {
        let job = try MessageBuilder.enveloped(#"{"device_tokens":["a0","a1","a2","a3","a4"],"payload":{}}"#) {
            $0.messageID = "m"
            $0.way = .returned
            $0.headers = [
                ("x-apns-v", .integer(1)), ("x-apns-indexes", .text("1-2,4")), ("x-apns-attempt", .integer(2)),
            ]
        }.job()
        #expect(job.tokenCount == 5 && job.notificationCount == 3)
        #expect(job.nextIndex(from: 0) == 1 && job.nextIndex(from: 3) == 4 && job.nextIndex(from: 5) == nil)
        #expect(job.indexes == IndexRanges([1, 2, 4]))
    }

    @Test("a dead letter of a multicast that is published again as it is, is about the positions it names")
    func multicastLetter() throws {
        let job = try MessageBuilder.enveloped(#"{"device_tokens":["a0","a1","a2","a3","a4"],"payload":{}}"#) {
            $0.messageID = "m"
            $0.headers = [
                ("x-apns-outcome", .text("exhausted")), ("x-apns-indexes", .text("0,3")),
                ("x-apns-attempt", .integer(10)), ("x-apns-first-attempt-at", .integer(1_763_712_700_000)),
            ]
        }.job()
        #expect(job.notificationCount == 2 && job.indexes == IndexRanges([0, 3]))
        #expect(job.attempt == 1 && job.firstAttemptAt == nil, "it begins again")
    }

    @Test("positions that do not exist are a defect", arguments: ["5", "0-5", "x", "", "4-3"])
    func badPositions(_ text: String) throws {
        let defect = try MessageBuilder.enveloped(#"{"device_tokens":["a0","a1","a2","a3","a4"],"payload":{}}"#) {
            $0.headers = [("x-apns-v", .integer(1)), ("x-apns-indexes", .text(text))]
        }.defect()
        #expect(defect.reason == .badHeaders && defect.detail.contains("x-apns-indexes"))
    }

    @Test("one thousand tokens are taken in order")
    func thousand() throws {
        let tokens = (0..<1000).map { String(0x1_0000 + $0, radix: 16) }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: " , ")
        let job = try MessageBuilder.enveloped(#"{"device_tokens":[\#(list)],"payload":{}}"#).job()
        #expect(job.tokenTexts == tokens)
    }

    @Test("what stands before a mistake still names the result")
    func partly() throws {
        let body = #"{"id":"job-1","environment":"production","topic":"com.example.app","reference":"r","priority":}"#
        let defect = try MessageBuilder.enveloped(body) { $0.routingKey = "other" }.defect()
        #expect(defect.reason == .badJSON)
        #expect(defect.detail.contains("byte \(body.utf8.count - 1)"))
        #expect(defect.job.text(defect.job.jobID) == "job-1" && !defect.job.generatedID)
        #expect(defect.job.environment == .production && defect.job.text(defect.job.topic) == "com.example.app")
        #expect(defect.job.text(defect.job.reference) == "r")
    }

    @Test("the first defect is the one reported, and everything else is still read")
    func readsOn() throws {
        let defect = try MessageBuilder.enveloped(adding: #""priority":7,"collapse_id":"","reference":"r""#).defect()
        #expect(defect.reason == .badPriority)
        #expect(defect.job.tokenCount == 1 && defect.job.text(defect.job.reference) == "r")
        #expect(defect.job.text(defect.job.payload) != nil)
    }
}
