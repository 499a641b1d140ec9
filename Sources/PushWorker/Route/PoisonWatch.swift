import EventLoop

/// Decides how careful a route is with redeliveries, because one of them may have ended an earlier process.
///
/// A quorum queue counts how often a message came back (`x-delivery-count`).
///
/// - A message that came back three times is taken up alone: nothing else of the route is in flight, and the prefetch
///   is one. The next crash then costs no neighbour.
/// - A message that came back twenty times is refused unread. Twenty is also the default delivery limit of RabbitMQ 4.
///   A smaller limit would refuse harmless messages: workers may die one after the other for another reason, and the
///   first messages of a queue come back with each death.
/// - A return that this process caused and outlived does not count: the caller subtracts such returns.
///
/// Returned messages stand at the front of their queue. A route therefore begins every channel with a prefetch of one
/// and looks at the first deliveries. So a worker that crashed needs no memory of its own, and a whole window of
/// neighbours is not delivered again with the culprit. Pure: time and randomness come in.
struct PoisonWatch<Held> {
    /// What to do with a delivery.
    enum Treatment: Equatable {
        /// Take it up like any other.
        case ordinary
        /// Hold it until it can be taken up alone.
        case alone
        /// Refuse it, unread.
        case refused
    }

    /// What is known of an earlier delivery of the same message.
    enum Knowledge {
        /// Nothing.
        case none
        /// An earlier process noted that APNs accepted at least a part of it. That process may have died of the rest.
        case journalled
        /// This process may have worked on it, and did not die.
        case remembered
    }

    /// The fewest returns for which a delivery is taken up alone.
    static var suspicion: Int64 { 3 }
    /// The fewest returns for which a delivery is refused.
    static var limit: Int64 { 20 }
    /// The returns that count in any case, also those that this process outlived. The number is below the queue's delivery
    /// limit of 50, at which the broker ends the message. The result of such a message cannot say what was pushed.
    static var mostReturns: Int64 { 40 }
    /// How many more returns than `limit` a delivery may have if the journal knows it. The delivery is then read once
    /// more, so that notifications that were pushed are reported as pushed.
    static var journalledReturns: Int64 { 5 }
    /// How long a new consumer looks for suspects. If nothing arrives in this time, the queue counts as harmless.
    static var lookTime: Duration { .seconds(2) }
    /// The longest wait of a suspect that came back `suspicion` times. Each further return doubles this time, up to
    /// seven times.
    ///
    /// Several queues and routes may each hold a suspect, and a crash counts against all of them. A suspect that came
    /// back more often waits longer, so that suspects that are only neighbours get through before the culprit is
    /// touched.
    static var longestWait: Duration { .milliseconds(20) }
    /// The most times that the longest wait is doubled.
    static var mostDoublings: Int64 { 7 }

    private struct Suspect {
        var held: Held
        var count: Int64
        var due: MonotonicTime
    }

    private var suspects: [Suspect] = []
    private var isRunning = false
    /// Until when the first deliveries are looked at. The far end of the clock before the consumer started; nil once
    /// the look is over.
    private var lookUntil: MonotonicTime? = .distantFuture

    /// Starts with a look at the first deliveries.
    init() {}

    /// How many suspects are held.
    var heldCount: Int { suspects.count }
    /// Whether suspects are held, or one is being worked on.
    var hasSuspects: Bool { isRunning || !suspects.isEmpty }
    /// Whether the route is to be consumed with a prefetch of one.
    var isNarrow: Bool { lookUntil != nil || hasSuspects }
    /// When time alone changes something; nil for never. The time may be in the past if something else must happen
    /// first.
    var due: MonotonicTime? {
        if !isRunning, let due = next.map({ suspects[$0].due }) { return due }
        return lookUntil == .distantFuture || hasSuspects ? nil : lookUntil
    }

    /// The consumer started. The first messages of the queue are on their way.
    mutating func consumeStarted(now: MonotonicTime) {
        if lookUntil == .distantFuture { lookUntil = now + Self.lookTime }
    }

    /// Time passed. A queue that had nothing to deliver is harmless.
    mutating func tick(now: MonotonicTime) {
        if let lookUntil, now >= lookUntil { self.lookUntil = nil }
    }

    /// A delivery arrived that came back this often.
    ///
    /// - Parameters:
    ///   - count: How often it came back, without the returns that this process caused and outlived.
    ///   - knowledge: What is known of its message. This matters only for a delivery with `limit` returns or more.
    mutating func delivered(count: Int64, knowledge: Knowledge = .none) -> Treatment {
        if count >= Self.limit {
            // A refusal of a message that was pushed would contradict its result, under the same id.
            switch knowledge {
            case .remembered: return .alone
            case .journalled where count < Self.limit + Self.journalledReturns: return .alone
            case .none, .journalled: return .refused
            }
        }
        if count >= Self.suspicion { return .alone }
        lookUntil = nil
        return .ordinary
    }

    /// Holds a suspect.
    mutating func hold(_ held: Held, count: Int64, now: MonotonicTime, random: inout some RandomNumberGenerator) {
        let doublings = UInt64(clamping: min(count - Self.suspicion, Self.mostDoublings))
        let longest = Self.longestWait * Int(1 << doublings)
        let due = now + longest * Double.random(in: 0...1, using: &random)
        suspects.append(Suspect(held: held, count: count, due: due))
    }

    /// The suspect to take up now: the one that came back least often.
    ///
    /// - Parameters:
    ///   - isAlone: Whether nothing but held suspects is under way, so that the suspect taken up last is done. Jobs
    ///     that have only waited for confirms for long (`DeliveryIntake.survival`) do not count.
    ///   - now: The time.
    mutating func takeNext(isAlone: Bool, now: MonotonicTime) -> Held? {
        guard isAlone else { return nil }
        if isRunning {
            isRunning = false
            // The next delivery decides whether the route is back to normal.
            lookUntil = now + Self.lookTime
        }
        guard let position = next, suspects[position].due <= now else { return nil }
        isRunning = true
        return suspects.remove(at: position).held
    }

    /// Takes out everything that is held, to be given back to the broker.
    mutating func takeAll() -> [Held] {
        defer { suspects.removeAll() }
        if !suspects.isEmpty { lookUntil = .distantFuture }
        return suspects.map(\.held)
    }

    private var next: Int? {
        suspects.indices.min {
            (suspects[$0].count, suspects[$0].due) < (suspects[$1].count, suspects[$1].due)
        }
    }
}
