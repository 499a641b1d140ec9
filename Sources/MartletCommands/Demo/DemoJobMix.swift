import PushModel
import Rig
import Text

/// The demo's jobs, shuffled: mostly good jobs of both forms, and a few of each kind that goes wrong.
struct DemoJobMix: Sequence, IteratorProtocol {
    /// What a job is like.
    enum Kind: UInt8, CaseIterable {
        /// A good job: the body is the payload, the rest are headers.
        case raw
        /// A good job as one JSON object.
        case enveloped
        /// One job for many devices, of which one is gone and one never existed.
        case multicast
        /// The app is no longer on the device: 410.
        case unregistered
        /// A token that APNs does not know: 400.
        case badToken
        /// The device gets too much at the moment: 429, then accepted.
        case throttled
        /// APNs has a fault of its own: 500, then accepted.
        case flaky
        /// APNs has no time: 503, then accepted.
        case unavailable
        /// APNs refuses the stream before it looks at the push, then accepts it.
        case refusedStream
        /// The first request is never answered, the second is accepted.
        case unanswered
        /// Every request is reset: nobody knows what became of it.
        case reset
        /// The body is not JSON.
        case brokenJSON
        /// A background push with priority 10, which Apple forbids.
        case backgroundPriority
        /// A payload over 4096 bytes.
        case tooLarge
        /// A topic that no route claims.
        case unroutable
        /// The deadline has passed before the job is read.
        case late

        /// How many of 10,000 jobs are of this kind. The two good kinds have 0 here, and share the rest.
        var share: Int {
            switch self {
            case .raw, .enveloped: 0
            case .unregistered, .throttled: 100
            case .badToken, .flaky, .late: 50
            case .brokenJSON: 30
            case .multicast, .backgroundPriority, .unroutable: 20
            case .unavailable, .refusedStream, .tooLarge: 10
            case .unanswered: 5
            case .reset: 1
            }
        }

        /// The first digits of the device token, by which the simulator chooses its verdict.
        var tokenPrefix: String {
            switch self {
            case .unregistered: "dead0410"
            case .badToken: "bad00400"
            case .throttled: "fa111429"
            case .flaky: "fa111500"
            case .unavailable: "fa111503"
            case .refusedStream: "fa111007"
            case .unanswered: "fa111000"
            case .reset: "c0de0008"
            default: "1"
            }
        }

        /// How many notifications a job asks for.
        var notifications: Int { self == .multicast ? 20 : 1 }
    }

    /// The apps of the demo, each with a route of its own.
    static let apps = [
        LocalRun.App(route: "shop", topic: "com.example.shop", highLane: true),
        LocalRun.App(route: "news", topic: "com.example.news"), LocalRun.App(route: "chat", topic: "com.example.chat"),
    ]

    /// How many jobs there are.
    let count: Int
    /// How many notifications they ask for.
    let notifications: Int
    /// How many jobs there are of each kind.
    let kinds: [Kind: Int]
    private var random: SplitMix64
    private var plan: [Kind]
    private var position = 0

    /// Plans the jobs.
    ///
    /// - Parameters:
    ///   - count: How many jobs. At least one job of every kind that goes wrong is among them.
    ///   - seed: The same seed gives the same jobs in the same order.
    init(count: Int, seed: UInt64) {
        random = SplitMix64(seed: seed)
        plan = []
        plan.reserveCapacity(count)
        for kind in Kind.allCases where kind.share > 0 {
            plan += repeatElement(kind, count: Swift.max(1, count * kind.share / 10_000))
        }
        while plan.count < count { plan.append(plan.count.isMultiple(of: 2) ? .raw : .enveloped) }
        plan.shuffle(using: &random)
        self.count = plan.count
        notifications = plan.reduce(0) { $0 + $1.notifications }
        kinds = plan.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// The next job.
    mutating func next() -> RunProducer.Job? {
        guard position < plan.count else { return nil }
        defer { position += 1 }
        return job(plan[position])
    }

    private mutating func job(_ kind: Kind) -> RunProducer.Job {
        let app = Self.apps[Int(random.next() % UInt64(Self.apps.count))]
        var text: [UInt8] = []
        UUIDBytes.v7(milliseconds: Int64(position), random: (random.next(), random.next())).append(to: &text)
        let id = String(decoding: text, as: UTF8.self)
        let payload = #"{"aps":{"alert":{"title":"\#(app.route)","body":"Number \#(position)"},"sound":"default"}}"#
        let token = token(kind.tokenPrefix)
        func enveloped(
            to tokens: [String], topic: String? = nil, fields: [(JobField, String)] = [], payload: String = payload
        ) -> RunProducer.Job {
            RunProducer.Job(
                id: id, topic: topic ?? app.topic,
                body: EnvelopedBody.text(id: id, tokens: tokens, fields: fields, payload: payload),
                notifications: kind.notifications)
        }
        switch kind {
        case .raw, .throttled, .unanswered, .badToken, .unavailable:
            return RunProducer.Job(id: id, topic: app.topic, body: payload, rawToken: token)
        case .tooLarge:
            let filling = String(repeating: "x", count: 4_096)
            return RunProducer.Job(id: id, topic: app.topic, body: #"{"aps":{"alert":"\#(filling)"}}"#, rawToken: token)
        case .enveloped, .unregistered, .flaky, .refusedStream, .reset: return enveloped(to: [token])
        case .brokenJSON:
            return enveloped(to: [token], payload: #"{"aps":"#)
        case .backgroundPriority:
            return enveloped(to: [token], fields: [(.pushType, #""background""#), (.priority, "10")])
        case .unroutable: return enveloped(to: [token], topic: "com.example.unknown")
        case .late: return enveloped(to: [token], fields: [(.deadline, #""2020-01-01T00:00:00Z""#)])
        case .multicast:
            var tokens = (2..<kind.notifications).map { _ in self.token(Kind.raw.tokenPrefix) }
            tokens.insert(self.token(Kind.unregistered.tokenPrefix), at: 3)
            tokens.append(self.token(Kind.badToken.tokenPrefix))
            return enveloped(to: tokens)
        }
    }

    /// A token of the usual length.
    private mutating func token(_ prefix: String) -> String {
        var text = prefix
        while text.utf8.count < 64 {
            let digits = String(random.next(), radix: 16)
            text += String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        return String(text.prefix(64))
    }
}
