import PushModel
import Testing

@testable import MartletCommands

@Suite("Push: from lines to jobs", .timeLimit(.minutes(1)))
struct JobLineTests {
    private let reader = JobLine(defaultTopic: nil, defaultEnvironment: nil, jobClass: .normal)

    @Test("A line is published byte for byte under the id it names")
    func line() throws {
        let line = bytes(
            #"{"id":"j","device_token":"a1","topic":"com.a","environment":"production","x":1, "payload":{}}"#)
        let job = try reader.job(line) { "new" }
        #expect(job.body == line)
        #expect(job.messageID == "j")
        #expect(job.routingKey == "production.normal.com.a")
    }

    @Test("Defaults fill in for what lines leave out, and a job without id gets one")
    func defaults() throws {
        let reader = JobLine(defaultTopic: "com.b", defaultEnvironment: .development, jobClass: .high)
        let job = try reader.job(bytes(#"{"device_tokens":["aa","bb"],"payload":{}}"#)) { "new" }
        #expect(job.routingKey == "development.high.com.b")
        #expect(job.messageID == "new")
        #expect(job.notifications == 2)
    }

    @Test(
        "A line that is not a job is bad input, in words that do not repeat it",
        arguments: [
            ("secret", "not valid JSON"), ("[]", "not a JSON object"), (#"{"topic":"com.a"}"#, "device_token"),
            (#"{"device_token":7}"#, "device_token has the wrong type"),
            (#"{"device_tokens":["secret",7]}"#, "device_tokens[1] has the wrong type"),
            (#"{"device_token":"a","environment":"production"}"#, "topic is missing"),
            (#"{"device_token":"a","topic":"com.a"}"#, "environment is missing"),
            (#"{"device_token":"a","topic":"com.a","environment":"prod"}"#, "neither production nor development"),
            (enveloped(#""device_token":"secret","payload":{}"#), "BadDeviceToken, the device token must consist of"),
            (enveloped(#""device_token":"a1b","payload":{}"#), "BadDeviceToken, the device token has an odd number"),
            (enveloped(#""device_tokens":["a1","secret"],"payload":{}"#), "device_tokens[1]: BadDeviceToken"),
            (enveloped(#""device_token":"a1""#), "PayloadEmpty, the job has no payload"),
            (enveloped(#""device_token":"a1","payload":"secret""#), "BadType, payload must be an object"),
            (enveloped(#""device_token":"a1","payload":{},"priority":7"#), "BadPriority"),
            (
                enveloped(#""device_token":"a1","payload":{},"deadline":600"#),
                "BadDeadline, deadline is 600, which as seconds since 1970 is 1970-01-01T00:10:00Z"
            ),
            (enveloped(#""device_token":"a1","payload":{},"id":"""#), "BadJobId"),
        ])
    func bad(line: String, words: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try reader.job(bytes(line)) { "new" } }
        #expect(failure?.status == .badInput)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("secret") == false)
    }

    @Test("A line that a worker takes is published, also with what the worker ignores")
    func good() throws {
        let fields = #""device_tokens":["a1","B2"],"payload":{"aps":{}},"deadline":1795264800,"new":1"#
        #expect(try reader.job(bytes(enveloped(fields))) { "new" }.notifications == 2)
        let read = #""operation":"read_channel","channel_id":"YQ==""#
        #expect(try reader.job(bytes(enveloped(read))) { "new" }.notifications == 1)
    }
}

/// An enveloped job with topic, environment and these fields.
private func enveloped(_ fields: String) -> String { #"{"topic":"com.a","environment":"production",\#(fields)}"# }
