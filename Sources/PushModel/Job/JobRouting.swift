/// What decides the route and the queue of a job: its environment, its topic and its class.
///
/// Environment and topic stand in the job, in its routing key, or in both. If in both, they must agree. The class
/// stands only in the key.
struct JobRouting {
    /// The environment; nil only beside a defect.
    private(set) var environment: APNSEnvironment?
    /// The class in the routing key; `normal` if the key does not follow the pattern.
    let jobClass: JobClass
    /// Where the topic with its suffix stands; empty only beside a defect.
    private(set) var topic: Range<Int> = 0..<0

    /// Reads the environment and the topic of a job.
    ///
    /// - Parameters:
    ///   - written: The job.
    ///   - routingKey: Where its routing key stands.
    init(reading written: inout WrittenJob, routingKey: Range<Int>) {
        let key = JobRoutingKey(routingKey, in: written.bytes.span)
        jobClass = key?.jobClass ?? .normal
        if let name = written.readEnvironment() {
            environment = APNSEnvironment(utf8: written.bytes.span.extracting(name))
            if environment == nil {
                written.fail(.badEnvironment, "\(JobField.environment) must be production or development")
            }
        }
        if let given = written.readTopic() {
            if Topic.isLegal(written.bytes.span.extracting(given)) {
                topic = given
            } else {
                written.fail(
                    .badTopic, "the topic must be 1 to \(Topic.maximumLength) of the characters A-Z a-z 0-9 . -")
            }
        }
        if let key {
            compare(with: key, &written)
        } else {
            requireBoth(&written, routingKey)
        }
    }

    /// Takes the environment and the topic from the key. Refuses a job that contradicts the key. Its results and its
    /// dead letter go under what the key names, because only the key is under the broker's permissions.
    private mutating func compare(with key: JobRoutingKey, _ written: inout WrittenJob) {
        if let environment, environment != key.environment {
            written.fail(
                .routingMismatch, "the job says \(environment.rawValue), its routing key \(key.environment.rawValue)")
        }
        if !topic.isEmpty, !written.sameBytes(topic, key.topic) {
            let (mine, other) = (Self.text(topic, written), Self.text(key.topic, written))
            written.fail(.routingMismatch, "the job's topic is \(mine), its routing key's \(other)")
        }
        environment = key.environment
        topic = key.topic
    }

    /// Refuses a job that lacks the environment or the topic and whose routing key does not follow the pattern.
    private mutating func requireBoth(_ written: inout WrittenJob, _ routingKey: Range<Int>) {
        let why =
            written.way == .moved
            ? "it was moved here without its routing key: use martlet dead replay, or publish it with its key"
            : "its routing key is not <environment>.<class>.<topic>"
        if topic.isEmpty { written.fail(.missingTopic, "the job names no topic, and \(why)") }
        if environment == nil {
            written.fail(.missingEnvironment, "the job names no environment, and \(why)")
            // This is not enough to send a push, but the result's routing key can name the environment.
            environment = APNSEnvironment(firstWordOf: written.bytes.span.extracting(routingKey))
        }
    }

    /// A legal topic as a string, for a detail.
    private static func text(_ topic: Range<Int>, _ written: borrowing WrittenJob) -> String {
        String(decoding: written.bytes[topic], as: UTF8.self)
    }
}
