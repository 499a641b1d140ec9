import APNSSimulator
package import PushModel
import Text

/// A job of a run: one notification to one device, or one to each of several devices.
package struct RunJob: Sendable {
    /// Its id.
    package let id = JobIdentifier.new()
    /// The app it is for.
    package var topic: String
    /// How urgent it is.
    package var jobClass: JobClass
    /// Whether the body is the payload alone, or an envelope; several devices need an envelope.
    package var isRaw: Bool
    /// The first digits of its device tokens, one prefix for each device. The simulator chooses its verdict by them.
    package var tokenPrefixes: [String]
    /// Until when it may be sent, in milliseconds since 1970; nil for any time.
    package var deadline: Int64?
    /// From when on it may be sent, in milliseconds since 1970; nil for any time.
    package var notBefore: Int64?
    /// For how long it may wait in a queue, in milliseconds: AMQP's property `expiration`. Nil for ever.
    package var lifetime: Int?
    /// The producer's own text for it; nil for none. It needs an envelope, and must have no characters that JSON
    /// escapes.
    package var reference: String?

    /// A job with an id of its own, from its parts, each as documented there.
    package init(
        topic: String = "com.example.shop", jobClass: JobClass = .normal, isRaw: Bool, tokenPrefixes: [String] = ["1"],
        deadline: Int64? = nil, notBefore: Int64? = nil, reference: String? = nil
    ) {
        self.topic = topic
        self.jobClass = jobClass
        self.isRaw = isRaw
        self.tokenPrefixes = tokenPrefixes
        self.deadline = deadline
        self.notBefore = notBefore
        self.reference = reference
    }

    private var digits: String { id.filter { $0 != "-" } }

    /// Its device tokens.
    package var tokens: [String] {
        tokenPrefixes.enumerated().map { index, prefix in
            String(("\(prefix)\(digits)\(String(index, radix: 16))\(digits)").prefix(64))
        }
    }

    /// The first of ``tokens``.
    package var token: String { tokens[0] }

    /// The job as a producer publishes it.
    package var publication: RunProducer.Job {
        let payload = #"{"aps":{"alert":{"title":"Shop","body":"Your order \#(digits) is on its way"}}}"#
        let tokens = tokens
        let fields: [(JobField, String)] = reference.map { [(.reference, "\"\($0)\"")] } ?? []
        let envelope = EnvelopedBody.text(id: id, tokens: tokens, fields: fields, payload: payload)
        let hash = StableHash.of(payload)
        return RunProducer.Job(
            id: id, topic: topic, jobClass: jobClass, body: isRaw ? payload : envelope, rawToken: isRaw ? token : nil,
            notifications: tokens.count, contents: tokens.map { RunLedger.Content(token: $0, payloadHash: hash) },
            deadline: deadline, notBefore: notBefore, lifetime: lifetime)
    }

    /// New jobs, raw and enveloped in turn.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - tokenPrefix: The first digits of their device tokens.
    package static func several(_ count: Int, tokenPrefix: String = "1") -> [RunJob] {
        (0..<count).map { RunJob(isRaw: $0.isMultiple(of: 2), tokenPrefixes: [tokenPrefix]) }
    }

    /// New jobs, raw and enveloped in turn, whose pushes are answered late.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - milliseconds: After how many milliseconds APNs answers, spread evenly; at most 9999.
    package static func several(_ count: Int, taking milliseconds: ClosedRange<Int>) -> [RunJob] {
        let span = milliseconds.upperBound -| milliseconds.lowerBound
        return (0..<count).map { number in
            let delay = milliseconds.lowerBound + number * 7919 % (span + 1)
            let digits = String(10_000 + min(delay, 9_999)).dropFirst()
            return RunJob(isRaw: number.isMultiple(of: 2), tokenPrefixes: ["de1a00\(digits)"])
        }
    }
}
