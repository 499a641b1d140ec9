import FoundationEssentials
import PushModel

/// A job as it goes to the exchange `apns.jobs`.
struct OutgoingJob: Equatable {
    /// `<environment>.<class>.<topic>`.
    var routingKey: String
    /// Which of the two forms the body has.
    var contentType: String
    /// The job id.
    var messageID: String
    /// AMQP headers in the order in which they are written.
    var headers: [(name: String, value: JobHeader)] = []
    /// The body.
    var body: [UInt8]
    /// How many notifications it asks for, and so how many results to expect.
    var notifications: Int
    /// The earliest time to send the job, in milliseconds since 1970, as the worker's reader found it; nil for now.
    var notBefore: Int64?
    /// A sentence for each field that a worker ignores.
    var warnings: [String] = []

    static func == (left: OutgoingJob, right: OutgoingJob) -> Bool {
        left.routingKey == right.routingKey && left.contentType == right.contentType
            && left.messageID == right.messageID && left.body == right.body
            && left.notifications == right.notifications
            && left.headers.elementsEqual(right.headers) { $0.name == $1.name && $0.value == $1.value }
    }

    /// The content type of a job whose body is an envelope.
    static let enveloped = "\(MessageName.jsonContentType)"
    /// The content type of a job whose body is the payload itself.
    static let raw = "\(MessageName.rawContentType)"
    /// The most bytes that a job's body may have: 256 KiB. A worker refuses a longer one.
    static let bodyLimit = 256 << 10

    /// A routing key, after checking that each part can be one.
    ///
    /// - Parameters:
    ///   - environment: `production` or `development`.
    ///   - jobClass: `high` or `normal`.
    ///   - topic: The APNs topic with its suffix.
    /// - Throws: A `badInput` failure that names the part.
    static func routingKey(environment: String, jobClass: JobClass, topic: String) throws(CommandFailure) -> String {
        guard APNSEnvironment(rawValue: environment) != nil else {
            throw CommandFailure(.badInput, "environment \"\(environment)\" is neither production nor development")
        }
        let allowed = topic.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed, (1...200).contains(topic.utf8.count) else {
            throw CommandFailure(.badInput, "topic \"\(topic)\" is not 1 to 200 letters, digits, dots and hyphens")
        }
        return "\(environment).\(jobClass.rawValue).\(topic)"
    }
}
