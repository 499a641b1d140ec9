import EventLoop

/// Decides how careful a route is with deliveries that the broker has made before, because one of them may be what
/// ended the process.
///
/// A quorum queue counts how often a message came back (`x-delivery-count`).
///
/// - A message that came back three times is taken up alone: nothing else of the route is in flight, and the prefetch
///   is one. The next crash then costs no neighbour.
/// - A message that came back twenty times is refused unread, as often as RabbitMQ itself gives a message up by default.
///   Fewer are too few: while workers die one after the other for another reason, what stands first in a queue comes
///   back with each death.
/// - Returns that this process brought about and outlived do not count: the caller takes them off.
///
/// Returned messages stand at the front of their queue. A route therefore begins every channel with a prefetch of one
/// and looks at the first deliveries. A crashed worker needs no memory of its own, and a whole window of neighbours is
/// not delivered again with the culprit. Pure: time and randomness come in.
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
        /// An earlier process had an answer for at least some of it, and may have died of the rest.
        case journalled
        /// This process may have worked on it, and did not die of it.
        case remembered
    }

    /// From how many returns on a delivery is taken up alone.
    static var suspicion: Int64 { 3 }
    /// From how many returns on it is refused where its route lives on one lane.
    static var limit: Int64 { 20 }
    /// The most returns before a delivery is refused. The number is below the queue's delivery limit of 50, where the
    /// broker gives the message up without a result.
    static var mostLimit: Int64 { 40 }
    /// How many more returns a delivery may have that the journal knows. It is read once more, so that what was pushed
    /// is reported as pushed.
    static var journalledReturns: Int64 { 5 }
    /// For how long a new consumer looks for suspects before it takes an empty queue for harmless.
    static var lookTime: Duration { .seconds(2) }
    /// The longest that a suspect waits; doubled with each further return, up to seven times.
    ///
    /// Several queues and routes may each hold a suspect, and a crash counts against all of them. A suspect that came
    /// back more often waits longer, so that suspects that are only neighbours get through before the culprit is
    /// touched.
    static var longestWait: Duration { .milliseconds(20) }
    /// How often the longest wait is doubled at most.
    static var mostDoublings: Int64 { 7 }

    /// From how many returns on a delivery is refused.
    let limit: Int64

    private struct Suspect {
        var held: Held
        var count: Int64
        var due: MonotonicTime
    }

    private var suspects: [Suspect] = []
    private var isRunning = false
    /// Until when the first deliveries are looked at; the end of time before the consumer started.
    private var lookUntil: MonotonicTime? = .distantFuture

    /// Starts with a look at what comes first.
    ///
    /// A process that dies takes the channels of all its lanes along, one after the other. A message that came back
    /// from the first channel goes to the next channel that has room, and comes back from there, too. So a crash may
    /// count once for each lane, until its culprit is a suspect. That is the third time at the latest. From then on all
    /// other lanes stand still.
    ///
    /// - Parameter lanes: On how many lanes the route lives.
    init(lanes: Int = 1) { limit = min(Self.mostLimit, Self.limit + Self.suspicion * Int64(lanes - 1)) }

    /// How many suspects are held.
    var heldCount: Int { suspects.count }
    /// Whether suspects are held, or one is being worked on.
    var hasSuspects: Bool { isRunning || !suspects.isEmpty }
    /// Whether the route is to be consumed with a prefetch of one.
    var isNarrow: Bool { lookUntil != nil || hasSuspects }
    /// When time alone changes something. The moment may be past where other things must happen first.
    var due: MonotonicTime? {
        if !isRunning, let due = next.map({ suspects[$0].due }) { return due }
        return lookUntil == .distantFuture || hasSuspects ? nil : lookUntil
    }

    /// The consumer started: what stands first in the queue is on its way.
    mutating func consumeStarted(now: MonotonicTime) {
        if lookUntil == .distantFuture { lookUntil = now + Self.lookTime }
    }

    /// Time passed: a queue that had nothing to deliver is harmless.
    mutating func tick(now: MonotonicTime) {
        if let lookUntil, now >= lookUntil { self.lookUntil = nil }
    }

    /// A delivery arrived that came back this often.
    ///
    /// - Parameters:
    ///   - count: How often, without what this process brought about and outlived.
    ///   - knowledge: What is known of it; it matters only where it would be refused.
    mutating func delivered(count: Int64, knowledge: Knowledge = .none) -> Treatment {
        if count >= limit {
            // A refusal of a message that was pushed would contradict its result, under the same id.
            switch knowledge {
            case .remembered: return .alone
            case .journalled where count < limit + Self.journalledReturns: return .alone
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
    ///   - isAlone: Whether nothing but held suspects is unacknowledged, so that the last one taken up is through.
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
