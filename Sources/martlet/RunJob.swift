/// A job of a run: one notification to a device of its own.
struct RunJob: Sendable {
    /// Its id.
    let id = JobIdentifier.new()
    /// The app it is for.
    var topic = "com.example.shop"
    /// Whether the body is the payload alone, or an envelope.
    var isRaw: Bool
    /// The first digits of its device token, by which the simulator chooses its verdict.
    var tokenPrefix = "1"
    /// Until when it may be sent, in milliseconds since 1970; nil for any time.
    var deadline: Int64?

    /// Its device token.
    var token: String {
        let digits = id.filter { $0 != "-" }
        return String((tokenPrefix + digits + digits).prefix(64))
    }

    /// The job as a producer publishes it.
    var publication: RunProducer.Job {
        let digits = id.filter { $0 != "-" }
        let payload = #"{"aps":{"alert":{"title":"Shop","body":"Your order \#(digits) is on its way"}}}"#
        let envelope = #"{"id":"\#(id)","device_token":"\#(token)","payload":\#(payload)}"#
        return RunProducer.Job(
            id: id, topic: topic, body: isRaw ? payload : envelope, rawToken: isRaw ? token : nil, deadline: deadline)
    }

    /// New jobs, raw and enveloped in turn.
    /// - Parameters:
    ///   - count: How many.
    ///   - tokenPrefix: The first digits of their device tokens.
    static func several(_ count: Int, tokenPrefix: String = "1") -> [RunJob] {
        (0..<count).map { RunJob(isRaw: $0.isMultiple(of: 2), tokenPrefix: tokenPrefix) }
    }

    /// New jobs, raw and enveloped in turn, whose pushes take their time.
    /// - Parameters:
    ///   - count: How many.
    ///   - milliseconds: After how long APNs answers, spread evenly; at most 9999.
    static func several(_ count: Int, taking milliseconds: ClosedRange<Int>) -> [RunJob] {
        let span = milliseconds.upperBound - milliseconds.lowerBound
        return (0..<count).map { number in
            let delay = milliseconds.lowerBound + number * 7919 % (span + 1)
            let digits = String(10_000 + min(delay, 9_999)).dropFirst()
            return RunJob(isRaw: number.isMultiple(of: 2), tokenPrefix: "de1a00\(digits)")
        }
    }
}
