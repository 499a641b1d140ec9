import RabbitMQ

/// A message to publish, in the words of AMQP.
struct TestJob: Sendable {
    var exchange = "apns.jobs"
    var routingKey = Array("development.normal.com.example.app".utf8)
    var contentType: String? = "application/json"
    var contentEncoding: String?
    /// The same as the correlation id where nothing else is said.
    var messageID: [UInt8]?
    var replyTo: String?
    /// The AMQP property, in milliseconds.
    var expiration: String?
    var headers: [FieldTable.Entry] = []
    var body: [UInt8] = []

    /// A raw job with its token in a header.
    static func raw(
        token: FieldValue? = .text(String(decoding: Tokens.bad, as: UTF8.self)), headers: [(String, FieldValue)] = [],
        body: String = #"{"aps":{"alert":"SECRET"}}"#
    ) -> TestJob {
        var job = TestJob()
        job.contentType = "application/vnd.apns.payload+json"
        job.headers = (token.map { [("apns-device-token", $0)] } ?? []).map(entry) + headers.map(entry)
        job.body = Array(body.utf8)
        return job
    }

    /// An enveloped job from its body.
    static func enveloped(_ body: String, headers: [(String, FieldValue)] = []) -> TestJob {
        var job = TestJob()
        job.headers = headers.map(entry)
        job.body = Array(body.utf8)
        return job
    }

    private static func entry(_ name: String, _ value: FieldValue) -> FieldTable.Entry {
        FieldTable.Entry(name: Array(name.utf8), value: value)
    }

    /// The job under another routing key.
    func keyed(_ key: String, exchange: String = "apns.jobs") -> TestJob {
        var job = self
        job.routingKey = Array(key.utf8)
        job.exchange = exchange
        return job
    }

    /// The job with something changed.
    func with(_ change: (inout TestJob) -> Void) -> TestJob {
        var job = self
        change(&job)
        return job
    }
}
