package import BrokerClient
package import PushModel
package import RabbitMQ
import Topology

/// Publishes jobs as a careful producer does: mandatory and persistent. A job counts as promised once the broker
/// confirmed it.
package struct RunProducer {
    /// A job to publish.
    package struct Job {
        /// Its id, in `message_id`.
        package var id: String
        /// The app it is for.
        package var topic: String
        /// How urgent it is.
        package var jobClass: JobClass
        /// The bytes of the body.
        package var body: String
        /// The device token of a raw job; nil for an enveloped one.
        package var rawToken: String?
        /// How many notifications it asks for.
        package var notifications: Int
        /// What each notification consists of, by its index; empty if nobody compares.
        package var contents: [RunLedger.Content]
        /// Until when it may be sent, in milliseconds since 1970; nil for any time.
        package var deadline: Int64?
        /// From when on it may be sent, in milliseconds since 1970; nil for any time.
        package var notBefore: Int64?
        /// For how long it may wait in a queue, in milliseconds: AMQP's property `expiration`. Nil for ever.
        package var lifetime: Int?

        /// A job from its parts, each as documented there.
        package init(
            id: String, topic: String, jobClass: JobClass = .normal, body: String, rawToken: String? = nil,
            notifications: Int = 1, contents: [RunLedger.Content] = [], deadline: Int64? = nil,
            notBefore: Int64? = nil, lifetime: Int? = nil
        ) {
            self.id = id
            self.topic = topic
            self.jobClass = jobClass
            self.body = body
            self.rawToken = rawToken
            self.notifications = notifications
            self.contents = contents
            self.deadline = deadline
            self.notBefore = notBefore
            self.lifetime = lifetime
        }
    }

    private let client: AMQPBlockingClient
    private var pending: [UInt64: Job] = [:]
    private var message = OutgoingMessage()
    /// Jobs the broker did not take.
    package private(set) var refused = 0

    /// Makes a producer that alone uses `client`.
    package init(_ client: AMQPBlockingClient) { self.client = client }

    /// Publishes a job for the development environment. `audit` learns of the job once the broker confirmed it.
    package mutating func publish(_ job: Job, enqueuedAt: Int64, audit: RunAudit) throws(AMQPError) {
        message.reset()
        message.isMandatory = true
        message.setExchange(TopologyNames.jobs.utf8.span)
        message.setRoutingKey { $0.append(contentsOf: "development.\(job.jobClass.rawValue).\(job.topic)".utf8) }
        message.setMessageID(Array(job.id.utf8).span)
        message.addHeader(HeaderName.enqueuedAt, integer: enqueuedAt)
        if let deadline = job.deadline { message.addHeader(HeaderName.deadline, integer: deadline) }
        if let notBefore = job.notBefore { message.addHeader(HeaderName.notBefore, integer: notBefore) }
        if let token = job.rawToken {
            message.setContentType(MessageName.rawContentType)
            message.addHeader(HeaderName.deviceToken) { $0.append(contentsOf: token.utf8) }
        } else {
            message.setContentType(MessageName.jsonContentType)
        }
        if let lifetime = job.lifetime { message.setExpiration(Array("\(lifetime)".utf8).span) }
        message.setBody(Array(job.body.utf8).span)
        pending[try client.submit(message)] = job
        settle(try client.takeOutcomes(), audit)
    }

    /// Stops waiting for missing confirms, because the connection is gone. Nobody knows whether those jobs are done.
    package mutating func abandon(audit: RunAudit) {
        let jobs = pending.values
        audit.record { ledger in
            for job in jobs { ledger.offered(job: job.id, notifications: job.notifications) }
        }
        pending = [:]
    }

    /// Waits for the confirms that are still missing.
    package mutating func finish(audit: RunAudit) throws(AMQPError) { settle(try client.flush(), audit) }

    private mutating func settle(_ outcomes: [(number: UInt64, result: PublishResult)], _ audit: RunAudit) {
        guard !outcomes.isEmpty else { return }
        for outcome in outcomes {
            guard let job = pending.removeValue(forKey: outcome.number) else { continue }
            if case .confirmed = outcome.result {
                audit.record { $0.promised(job: job.id, notifications: job.notifications, contents: job.contents) }
            } else {
                refused += 1
            }
        }
    }
}
