import Testing

@testable import PushModel

@Suite("Where the results of a refused job go", .timeLimit(.minutes(1)))
struct JobPlaceTests {
    /// The key of the results of a job, as far as the job decides it.
    private static func place(_ job: Job) -> String {
        var key: [UInt8] = []
        ResultReport(index: 0, final: FinalReport(.invalid, .fixRequest), finishedAt: 0).appendRoutingKey(
            for: job, to: &key)
        return String(decoding: key, as: UTF8.self)
    }

    @Test(
        "it is what the routing key names, whatever the job claims of itself",
        arguments: [
            #"{"topic":"com.other.app","device_tokens":["aa","bb"],"payload":{}}"#,
            #"{"environment":"development","device_token":"aa","payload":{}}"#,
            #"{"environment":"development","topic":"com.other.app","device_token":"aa","payload":{}}"#,
            #"{"topic":"com_other","device_token":"aa","payload":{}}"#,
            #"{"environment":"test","topic":"com.other.app","device_token":"aa","payload":{}}"#,
            #"{"topic":"com.other.app"}"#,
            #"{"topic":"com.other.app","#,
        ])
    func legibleKey(_ body: String) throws {
        let defect = try MessageBuilder.enveloped(body).defect()
        #expect(Self.place(defect.job) == "invalid.production.com.example.app")
    }

    @Test(
        "a job that was moved is told how to be published again, and keeps its legible first key",
        arguments: [("production.high.com.example.app", true), ("apns.q.jobs.shop", false), ("", false)])
    func moved(_ first: String, _ isKept: Bool) throws {
        let message = MessageBuilder.raw {
            $0.way = .moved
            $0.routingKey = "apns.q.jobs.shop"
            $0.headers.append(("x-apns-original-routing-key", .text(first)))
        }
        let defect = try message.defect()
        #expect(defect.reason == .missingTopic)
        #expect(defect.detail.contains("moved here without its routing key: use martlet dead replay"))
        #expect(
            defect.job.firstRoutingKey.map { String(decoding: defect.job.bytes[$0], as: UTF8.self) }
                == (isKept ? first : nil))
        var published = message
        published.way = .published
        #expect(try published.defect().job.firstRoutingKey == nil)
    }
}
