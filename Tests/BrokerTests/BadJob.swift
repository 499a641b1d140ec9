import PushModel
import RabbitMQ
import Testing

/// A job that something is wrong with, and what must become of it.
struct BadJob: Sendable, CustomTestStringConvertible {
    /// Who writes the dead letter.
    enum Writer: Sendable { case worker, broker }

    let name: String
    var job: TestJob
    var reason: String
    var outcome = "invalid"
    var action = "fix_request"
    /// The result's routing key after the outcome.
    var key = "development.com.example.app"
    /// Whose queue it is in; nil where no route takes it.
    var route: String? = "app"
    var writer = Writer.worker
    /// The content of the header table, where no ordinary client would write it.
    var wireHeaders: [UInt8]?
    /// Whether the dead letter has the producer's headers.
    var keepsHeaders = true

    init(_ name: String, _ reason: Reason, _ job: TestJob) {
        self.name = name
        self.reason = reason.rawValue
        self.job = job
    }

    var testDescription: String { name }

    /// The case with some expectation changed.
    func with(_ change: (inout BadJob) -> Void) -> BadJob {
        var copy = self
        change(&copy)
        return copy
    }
}

extension BadJob {
    private static let good = String(decoding: Tokens.good, as: UTF8.self)
    private static let token = String(decoding: Tokens.bad, as: UTF8.self)
    private static let payload = #""payload":{"aps":{"alert":"SECRET"}}"#

    /// An enveloped job with a token, a payload and further fields.
    private static func fields(_ more: String) -> TestJob {
        .enveloped(#"{"device_token":"\#(token)",\#(payload),\#(more)}"#)
    }

    /// Cases in which the JSON of an enveloped job is to blame.
    static let enveloped: [BadJob] = [
        BadJob("JSON cut off", .badJSON, .enveloped(#"{"device_token":"\#(token)","payload":{"aps":"#)),
        BadJob("JSON that is not an object", .badJSON, .enveloped(#"["SECRET"]"#)),
        BadJob("an empty body", .badJSON, .enveloped("")),
        BadJob("a token that is a number", .badType, .enveloped(#"{"device_token":17,\#(payload)}"#)),
        BadJob("a payload that is text", .badType, .enveloped(#"{"device_token":"\#(token)","payload":"SECRET"}"#)),
        BadJob("a priority that is text", .badType, fields(#""priority":"10""#)),
        BadJob("a topic that is a list", .badType, fields(#""topic":["com.example.app"]"#)),
        BadJob("no token", .missingDeviceToken, .enveloped("{\(payload)}")),
        BadJob("an empty token", .missingDeviceToken, .enveloped(#"{"device_token":"",\#(payload)}"#)),
        BadJob(
            "a token that is not hexadecimal", .badDeviceToken,
            .enveloped(#"{"device_token":"\#(token)zz",\#(payload)}"#)),
        BadJob(
            "1,001 tokens", .tooManyTokens,
            .enveloped(
                #"{"device_tokens":["\#(token)\#(String(repeating: #"","a1"#, count: 1_000))"],\#(payload)}"#)),
        BadJob("an empty list of tokens", .missingDeviceToken, .enveloped(#"{"device_tokens":[],\#(payload)}"#)),
        BadJob("a token and tokens", .ambiguousDeviceToken, fields(#""device_tokens":["\#(token)"]"#)),
        BadJob("no payload", .payloadEmpty, .enveloped(#"{"device_token":"\#(token)"}"#)),
        BadJob(
            "a payload of 4,097 bytes", .payloadTooLarge,
            .enveloped(#"{"device_token":"\#(token)","payload":{"s":"\#(String(repeating: "S", count: 4_089))"}}"#)),
        BadJob("another topic than its key", .routingMismatch, fields(#""topic":"com.example.wrong""#)),
        BadJob("another environment than its key", .routingMismatch, fields(#""environment":"production""#)),
        BadJob("an unknown environment", .badEnvironment, fields(#""environment":"staging""#)),
        BadJob(
            "a collapse id of 65 bytes", .badCollapseID,
            fields(#""collapse_id":"\#(String(repeating: "c", count: 65))""#)),
        BadJob(
            "a background push with priority 10", .badPriority,
            fields(#""push_type":"background","priority":10"#)),
        BadJob("priority 7", .badPriority, fields(#""priority":7"#)),
        BadJob("a deadline in words", .badDeadline, fields(#""deadline":"tomorrow""#)),
        BadJob("a deadline in minutes", .badDeadline, fields(#""deadline":10"#)),
        BadJob("a start in words", .badNotBefore, fields(#""not_before":"tomorrow""#)),
        BadJob("a start after the deadline", .badNotBefore, fields(#""not_before":1600000001,"deadline":1600000000"#)),
        BadJob("results in another way", .badResults, fields(#""results":"pair""#)),
        BadJob("an unknown wish", .badOnUnknown, fields(#""on_unknown":"panic""#)),
        BadJob("an apns_id that is not a UUID", .badMessageID, fields(#""apns_id":"17""#)),
        BadJob("another id than the message id", .jobIDMismatch, fields(#""id":"another""#)),
        BadJob(
            "invalid UTF-8", .badEncoding,
            fields(#""reference":"?""#).with { job in
                job.body = job.body.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 }
            }),
        BadJob("a compressed body", .badEncoding, fields(#""priority":10"#).with { $0.contentEncoding = "gzip" }),
        BadJob("a past expiration", .expirationPassed, fields(#""expiration":1600000000"#)).expired,
        BadJob("a past deadline", .deadlinePassed, fields(#""deadline":"2020-09-13T12:26:40Z""#)).expired,
    ]

    /// Cases in which the properties or headers of a raw job are to blame.
    static let raw: [BadJob] = [
        BadJob("no content type", .badContentType, .raw().with { $0.contentType = nil }),
        BadJob("an unknown content type", .badContentType, .raw().with { $0.contentType = "text/plain" }),
        BadJob("no token header", .missingDeviceToken, .raw(token: nil)),
        BadJob("an empty token header", .missingDeviceToken, .raw(token: .text(""))),
        BadJob("a token header that is not hexadecimal", .badDeviceToken, .raw(token: .text("\(token)-"))),
        BadJob("a token of 401 digits", .badDeviceToken, .raw(token: .text(String(repeating: "a", count: 401)))),
        BadJob("a token of 63 digits", .badDeviceToken, .raw(token: .text(String(repeating: "a", count: 63)))),
        BadJob("an empty payload", .payloadEmpty, .raw(body: "")),
        BadJob("a raw payload of 4,097 bytes", .payloadTooLarge, .raw(body: String(repeating: "S", count: 4_097))),
        BadJob(
            "a VoIP payload of 5,121 bytes", .payloadTooLarge,
            .raw(body: String(repeating: "S", count: 5_121)).keyed("development.high.com.example.app.voip")
        ).with { $0.key = "development.com.example.app.voip" },
        BadJob("a push type with a space", .invalidPushType, .raw(headers: [("apns-push-type", .text("a b"))])),
        BadJob("a collapse id with a line end", .badCollapseID, .raw(headers: [("apns-collapse-id", .text("a\n"))])),
        BadJob("an expiration in words", .badExpirationDate, .raw(headers: [("apns-expiration", .text("soon"))])),
        BadJob("a topic with invalid UTF-8", .badEncoding, .raw(headers: [("apns-topic", .text([0xC3, 0x28]))])),
        BadJob(
            "a header twice", .duplicateHeaders,
            .raw(headers: [("apns-priority", .integer(5)), ("apns-priority", .integer(10))])),
        BadJob("a deadline header in words", .badDeadline, .raw(headers: [("x-apns-deadline", .text("soon"))])),
        BadJob("a message id with invalid UTF-8", .badJobID, .raw().with { $0.messageID = [0x61, 0xFF, 0x62] }),
        BadJob(
            "a past expiration header", .expirationPassed, .raw(headers: [("apns-expiration", .integer(1_600_000_000))])
        ).expired,
        BadJob(
            "a past deadline header", .deadlinePassed, .raw(headers: [("x-apns-deadline", .integer(1_600_000_000_000))])
        ).expired,
    ]

    /// A header that means something, with a value of every kind it cannot have.
    static let kinds: [BadJob] = [
        ("a boolean", FieldValue.boolean(true)), ("a float", .float(10)), ("a double", .double(10)),
        ("a decimal", .decimal(scale: 0, value: 10)), ("a time", .timestamp(10)), ("words", .text("ten")),
        ("bytes", .bytes([10])), ("a table", .table(FieldTable(entries: []))), ("a list", .array([.integer(10)])),
        ("a large number", .integer(1 << 40)),
    ].map { name, value in
        BadJob("a priority that is \(name)", .badPriority, .raw(headers: [("apns-priority", value)]))
    }

    /// Cases that only a broker can show: keys, sizes, header tables.
    static let delivered: [BadJob] = [
        BadJob("a topic without a route", .noRoute, .raw().keyed("development.normal.com.example.nobody")).with {
            $0.route = nil
            $0.key = "development.com.example.nobody"
        },
        BadJob("a key of another kind", .noRoute, .raw().keyed("orders.created")).with {
            $0.route = nil
            $0.key = "-.-"
        },
        BadJob(
            "a key of 255 bytes", .noRoute, .raw().keyed("development.normal." + String(repeating: "k", count: 236))
        ).with {
            $0.route = nil
            $0.key = "development.-"
        },
        BadJob(
            "a topic of another route", .routingMismatch,
            fields(#""topic":"com.example.other","environment":"development""#)
                .keyed("apns.q.jobs.app", exchange: "")
        ).with { $0.key = "-.-" },
        BadJob(
            "a body of 10 MB", .bodyTooLarge,
            .raw(body: String(repeating: "S", count: 10_000_000))
        ).with { $0.writer = .broker },
        BadJob("a header table of 40,000 bytes", .badHeaders, .raw()).withTable(WireTable.wide(40_000)),
        BadJob("nine nested header tables", .badHeaders, .raw()).withTable(WireTable.nested(9)),
        // What is nested too deeply to be read may hide by whose dead letters the job came. So nobody's app is named.
        BadJob("15,000 nested header tables", .untrustedSource, .raw()).withTable(WireTable.nested(15_000))
            .with { $0.key = "-.-" },
        BadJob(
            "a header table of 40,000 bytes and a body over the limit", .badHeaders,
            .raw(body: String(repeating: "S", count: 300_000))
        ).withTable(WireTable.wide(40_000)).with { $0.writer = .broker },
    ]

    static let all = enveloped + raw + kinds + delivered

    /// Past its time, which is not a fault of the request.
    private var expired: BadJob {
        with {
            $0.outcome = "expired"
            $0.action = "none"
        }
    }

    /// With a header table of its own, which the dead letter does not repeat.
    private func withTable(_ content: [UInt8]) -> BadJob {
        with {
            $0.wireHeaders = content
            $0.keepsHeaders = false
        }
    }
}
