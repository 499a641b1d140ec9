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
        let job = try reader.job(bytes(#"{"device_tokens":["a","b"],"payload":{}}"#)) { "new" }
        #expect(job.routingKey == "development.high.com.b")
        #expect(job.messageID == "new")
        #expect(job.notifications == 2)
    }

    @Test(
        "A line that is no job is bad input, in words that do not repeat it",
        arguments: [
            ("secret", "not valid JSON"), ("[]", "not a JSON object"), (#"{"topic":"com.a"}"#, "device_token"),
            (#"{"device_token":7}"#, "device_token has the wrong type"),
            (#"{"device_tokens":["secret",7]}"#, "device_tokens[1] has the wrong type"),
            (#"{"device_token":"a","environment":"production"}"#, "topic is missing"),
            (#"{"device_token":"a","topic":"com.a"}"#, "environment is missing"),
            (#"{"device_token":"a","topic":"com.a","environment":"prod"}"#, "neither production nor development"),
        ])
    func bad(line: String, words: String) {
        let failure = #expect(throws: CommandFailure.self) { try reader.job(bytes(line)) { "new" } }
        #expect(failure?.status == .badInput)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("secret") == false)
    }
}
