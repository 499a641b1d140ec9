import PushModel
import PushWorker
import RabbitMQ
import Rig
import Topology

/// A dead letter as the job that it was, to be published again: a pure value.
struct ReplayedJob {
    /// Why a letter is left where it is.
    enum Obstacle: Error, Equatable {
        /// It was replayed under this name already, and failed again.
        case replayed
        /// Its device tokens are dead.
        case deadTokens
        /// The job came by a way that nobody vouches for, so its routing key may be another app's.
        case untrusted
        /// The job's deadline has passed.
        case deadlinePassed
        /// The job's expiration has passed. The expiration is part of the job, and a replay does not change the job.
        case expirationPassed
        /// Nobody knows for certain with which key the job was published.
        case keyDoubted(LetterOrigin.Doubt)
        /// A worker would refuse the job again, for this reason.
        case invalid(String)

        /// The obstacle in words that follow a number of letters.
        var explanation: String {
            switch self {
            case .replayed: "were replayed under this name and failed again"
            case .deadTokens: "have dead device tokens (--outcome dead_token replays these, too)"
            case .untrusted:
                "came by a way that workers do not trust (--reason \(Reason.untrustedSource.rawValue) replays these, too)"
            case .deadlinePassed: "have a deadline that has passed (--deadline gives a later one)"
            case .expirationPassed: "have an expiration that has passed (publish new jobs instead)"
            case .keyDoubted(.moved):
                "were moved by hand to a queue, which took their routing key: publish new jobs instead (martlet dead "
                    + "replay publishes a letter under its job's key, if it is still where it was written)"
            case .keyDoubted(.unproven):
                "have their routing key in \(BrokerHeader.death) only, where a producer may have written it: publish new "
                    + "jobs instead"
            case .keyDoubted(.forgeable):
                "were ended by RabbitMQ, which before 4.0 does not prove that their producers may push for their topics "
                    + "(--trust-producers replays these, too)"
            case .keyDoubted(.foreignExchange(let name)):
                "came through the exchange \(name.printable), where no permission for their topic holds: publish new jobs "
                    + "instead"
            case .keyDoubted(.foreignQueue(let name)):
                "were led to their topic by the dead letters of the queue \(name.printable): publish new jobs instead"
            case .invalid(let why): "would be refused again: \(why)"
            }
        }
    }

    /// The message.
    let message: OutgoingMessage
    /// Its id.
    let messageID: String
    /// Its routing key.
    let routingKey: String

    /// Makes a job of a letter.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - name: The replay's name, for `x-apns-replay`.
    ///   - deadline: The job's new deadline in milliseconds since 1970; nil to keep that of the job.
    ///   - includesDeadTokens: Whether letters of dead device tokens are wanted, too.
    ///   - includesUntrusted: Whether letters of jobs with an unproved routing key are wanted, too.
    ///   - trustsProducers: Whether letters whose routing key a producer may have forged are wanted, too.
    ///   - now: Milliseconds since 1970.
    /// - Throws: What is in the way.
    init(
        _ letter: DeadLetter, name: String, deadline: Int64?, includesDeadTokens: Bool, includesUntrusted: Bool = false,
        trustsProducers: Bool = false, now: Int64
    ) throws(Obstacle) {
        guard letter.message.header(HeaderName.replay) != name else { throw .replayed }
        guard includesDeadTokens || letter.outcome != "\(Outcome.deadToken.text)" else { throw .deadTokens }
        guard includesUntrusted || letter.reason != Reason.untrustedSource.rawValue else { throw .untrusted }
        let bytes = letter.message.delivery.bytes
        guard let properties = try? MessagePropertyReader(bytes, letter.message.delivery.properties) else {
            throw .invalid("its properties are damaged")
        }
        switch letter.origin.key {
        case .success(let key): routingKey = key
        case .failure(.forgeable(let key)) where trustsProducers: routingKey = key
        case .failure(let doubt): throw .keyDoubted(doubt)
        }
        // A mandatory message needs an id. A job that had none gets one.
        messageID = letter.message.messageID.isEmpty ? JobIdentifier.new() : letter.message.messageID
        var message = OutgoingMessage()
        message.isMandatory = true
        message.setExchange(TopologyNames.jobs.utf8.span)
        message.setRoutingKey(routingKey.utf8.span)
        message.setMessageID(messageID.utf8.span)
        message.setBody(bytes.span.extracting(letter.message.delivery.body))
        JobCopy.copy(properties, of: bytes, to: &message)
        let headers = LetterJob.headers(of: properties, in: bytes, keepingDeadline: deadline == nil)
        for field in headers { try? message.addHeader(copying: field, from: bytes) }
        message.addHeader(HeaderName.replay, text: name.utf8.span)
        if let deadline { message.addHeader(HeaderName.deadline, integer: deadline) }
        self.message = message
        try Self.check(letter.message, properties, headers, routingKey, deadline: deadline, now: now)
    }

    /// Reads the job as a worker and its route will.
    private static func check(
        _ letter: BrokerMessage, _ properties: MessagePropertyReader, _ headers: [Field], _ routingKey: String,
        deadline: Int64?, now: Int64
    ) throws(Obstacle) {
        let size = letter.delivery.body.count
        guard size <= JobDecoder.maximumBodyLength else {
            throw .invalid(
                "\(Reason.bodyTooLarge.rawValue), the body has \(size) bytes, and a job may have "
                    + "\(JobDecoder.maximumBodyLength)")
        }
        switch LetterJob.read(letter, properties, headers, routingKey: routingKey, deadline: deadline, now: now) {
        case .failure(let defect): throw .invalid("\(defect.reason.rawValue), \(defect.detail)")
        case .success(let job):
            let key = Array(routingKey.utf8)
            if let mistake = JobRoutingKey.mistake(0..<key.count, in: key.span) {
                throw .invalid("\(Reason.noRoute.rawValue), \(mistake)")
            }
            guard job.isExpired(at: now) else { return }
            throw job.deadline.map { $0 < now } ?? false ? .deadlinePassed : .expirationPassed
        }
    }
}
