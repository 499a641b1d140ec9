import PushModel
import Testing

@testable import MartletCommands

/// Text as bytes.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite("Push: from flags to a job", .timeLimit(.minutes(1)))
struct PushDraftTests {
    private let draft = PushDraft(
        id: "job-1", tokens: ["a1b2"], topic: "com.example.app", payload: bytes(#"{"aps":{"alert":"hi"}}"#))

    @Test("An enveloped job names what was given and nothing else, with the payload's own bytes")
    func enveloped() throws {
        var draft = draft
        draft.payload = bytes(#"{ "aps" : {} , "x":"é" }"#)
        let job = try draft.job()
        #expect(job.routingKey == "development.normal.com.example.app")
        #expect(job.contentType == "application/json")
        #expect(job.messageID == "job-1")
        #expect(job.notifications == 1)
        #expect(
            String(decoding: job.body, as: UTF8.self) == """
                {"id":"job-1","device_token":"a1b2","topic":"com.example.app","environment":"development",\
                "payload":{ "aps" : {} , "x":"é" }}
                """)
    }

    @Test("Every option of an enveloped job has its field")
    func everyField() throws {
        var draft = draft
        (draft.environment, draft.jobClass) = (.production, .high)
        (draft.pushType, draft.priority, draft.expiration) = ("alert", 5, 0)
        (draft.collapseID, draft.apnsID, draft.deadline) = ("c", "u", 1_795_262_400_000)
        (draft.onUnknown, draft.reference) = (.report, #"say "hi""#)
        (draft.notBefore, draft.results) = (1_795_262_300_000, .batch)
        let job = try draft.job()
        #expect(job.routingKey == "production.high.com.example.app")
        #expect(
            String(decoding: job.body, as: UTF8.self).contains(
                #""push_type":"alert","priority":5,"expiration":0,"collapse_id":"c","apns_id":"u","#
                    + #""deadline":"2026-11-21T12:00:00.000Z","not_before":"2026-11-21T11:58:20.000Z","#
                    + #""on_unknown":"report","results":"batch","reference":"say \"hi\"","payload""#
            ))
    }

    @Test("Several tokens make one multicast job")
    func multicast() throws {
        var draft = draft
        draft.tokens = ["a1", "b2", "c3"]
        let job = try draft.job()
        #expect(job.notifications == 3)
        #expect(String(decoding: job.body, as: UTF8.self).contains(#""device_tokens":["a1","b2","c3"]"#))
    }

    @Test("A raw job carries the payload alone and everything else in headers")
    func raw() throws {
        var draft = draft
        draft.raw = true
        (draft.priority, draft.collapseID, draft.deadline, draft.onUnknown) = (10, "c", 5, .retry)
        (draft.notBefore, draft.results) = (4, .batch)
        let job = try draft.job()
        #expect(job.contentType == "application/vnd.apns.payload+json")
        #expect(job.body == draft.payload)
        let headers = job.headers.map { "\($0.name)=\($0.value)" }
        #expect(
            headers == [
                #"apns-device-token=text("a1b2")"#, #"apns-topic=text("com.example.app")"#, "apns-priority=integer(10)",
                #"apns-collapse-id=text("c")"#, "x-apns-deadline=integer(5)",
                "x-apns-not-before=integer(4)", #"x-apns-on-unknown=text("retry")"#,
                #"x-apns-results=text("batch")"#,
            ])
    }

    @Test(
        "A payload that APNs cannot take is bad input",
        arguments: [
            ("", "com.a", "ends too early (at byte 0)"),
            (#"{"a":NaN}"#, "com.a", "(at byte 5)"), ("[1]", "com.a", "not a JSON object"),
            ("{\"a\":", "com.a", "ends too early"),
            (#"{"a":"\#(String(repeating: "x", count: 4089))"}"#, "com.a", "4097 bytes, and APNs takes 4096"),
            (#"{"a":"\#(String(repeating: "x", count: 5113))"}"#, "com.a.voip", "5121 bytes, and APNs takes 5120"),
        ])
    func badPayload(payload: String, topic: String, words: String) {
        var draft = draft
        (draft.payload, draft.topic) = (bytes(payload), topic)
        let failure = #expect(throws: CommandFailure.self) { try draft.job() }
        #expect(failure?.status == .badInput)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
    }

    @Test("A topic that cannot be part of a routing key is bad input", arguments: ["", "com.a_b", "com/a", "tøpic"])
    func badTopic(topic: String) {
        var draft = draft
        draft.topic = topic
        #expect(throws: CommandFailure.self) { try draft.job() }
    }
}
