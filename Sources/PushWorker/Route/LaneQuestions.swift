import EventLoop
import PushModel

/// What the lanes of a route ask each other about deliveries that may have been made before.
///
/// - A lane with such a delivery asks all others, and waits until they have answered.
/// - A lane that is asked answers at once, unless it has a job that looks like the delivery's. Then either the delivery
///   is of another message, or the lane's channel is gone and the lane does not know this yet. So the lane answers once
///   its channel has proved alive, or is gone and its jobs are in the memory.
/// - A question about a copy is always answered at once.
///
/// Time comes in.
struct LaneQuestions {
    private let peers: RoutePeers
    /// Deliveries of this lane about which others were asked.
    private var asked = AskedDeliveries()
    /// Questions of other lanes that came since the channel was last asked for a sign of life.
    private var waiting: [DeliveryOnLane] = []
    /// Questions of other lanes that came before the channel was asked for a sign of life. The sign settles them.
    private var proving: [DeliveryOnLane] = []
    /// The keys of the jobs that the lane has; nil until a turn needs them.
    private var keys: HeldKeys?

    /// A lane that neither asked nor was asked.
    ///
    /// - Parameter peers: The other lanes.
    init(among peers: RoutePeers) { self.peers = peers }

    // MARK: On the lane with the delivery

    /// Whether no delivery waits for answers.
    var isEmpty: Bool { asked.isEmpty }

    /// When `overdue(now:)` may have something; nil while nothing is asked.
    var nextDue: MonotonicTime? { asked.nextDue }

    /// Asks the other lanes about a delivery.
    ///
    /// - Parameters:
    ///   - job: The job that the delivery became; it waits for the answers.
    ///   - isCopy: Whether the job is a copy that the broker may have twice. Such a copy is not a redelivery.
    ///   - now: The time.
    /// - Returns: Whether anybody was asked.
    mutating func ask(about job: JobInFlight, isCopy: Bool, now: MonotonicTime) -> Bool {
        guard peers.hasOthers, let key = job.redeliveryKey else { return false }
        let others = peers.tellOthers(.asked(peers.here(job, key), isCopy: isCopy))
        guard others > 0 else { return false }
        asked.ask(job, isCopy: isCopy, lanes: others, now: now)
        return true
    }

    /// A lane has answered.
    ///
    /// - Parameters:
    ///   - tag: The delivery's tag on the present channel.
    ///   - isKnown: Whether that lane has the first of two copies.
    /// - Returns: The delivery, once all lanes have answered, or one lane has the first copy.
    mutating func answered(_ tag: UInt64, isKnown: Bool) -> AskedDeliveries.Asked? {
        asked.answered(tag, isKnown: isKnown)
    }

    /// Takes out the deliveries for which an answer is overdue.
    mutating func overdue(now: MonotonicTime) -> [AskedDeliveries.Asked] { asked.overdue(now: now) }

    /// Takes out all deliveries that wait for answers, because their channel is gone.
    ///
    /// - Returns: The jobs that they became.
    mutating func takeAsked() -> [JobInFlight] { asked.removeAll() }

    // MARK: On the lane that is asked

    /// Another lane asks about a delivery.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - isCopy: Whether it is a copy that the broker may have twice. Such a copy is not a redelivery.
    ///   - ledger: The jobs of this lane.
    ///   - intake: What else this lane knows of deliveries.
    ///   - moment: The time.
    /// - Returns: Whether the answer waits for the channel, which is to prove that it is alive.
    mutating func answer(
        _ delivery: DeliveryOnLane, isCopy: Bool, ledger: DeliveryLedger, intake: DeliveryIntake, at moment: Moment
    ) -> Bool {
        if isCopy {
            let keys = keys(ledger, intake, at: moment)
            // If lanes ask each other, each about its own copy, only the lane with the lowest number goes on.
            let isFirst = peers.lane < delivery.lane && keys.askedCopies.contains(delivery.key)
            peers.tell(delivery.lane, .answered(delivery, isKnown: isFirst || keys.firsts.contains(delivery.key)))
            return false
        }
        guard ledger.isOpen, keys(ledger, intake, at: moment).all.contains(delivery.key) else {
            peers.tell(delivery.lane, .answered(delivery, isKnown: false))
            return false
        }
        waiting.append(delivery)
        return true
    }

    /// The keys of the present generation's jobs; made once for all questions of a turn.
    private mutating func keys(_ ledger: DeliveryLedger, _ intake: DeliveryIntake, at moment: Moment) -> HeldKeys {
        if let keys { return keys }
        let made = HeldKeys(ledger, intake, asked: asked, at: moment)
        keys = made
        return made
    }

    /// The turn ends.
    ///
    /// - Parameter isProving: Whether the channel is asked for a sign of life with the turn's methods.
    mutating func turnEnded(isProving: Bool) {
        if isProving, !waiting.isEmpty {
            proving += waiting
            waiting = []
        }
        keys = nil
    }

    /// The channel has proved alive, so no other lane has its deliveries. The questions that this settles get the
    /// answer no.
    mutating func channelProved() {
        deny(proving)
        proving = []
    }

    /// The channel is gone, and its jobs are in the memory. All questions get the answer no.
    mutating func channelGone() {
        keys = nil
        deny(proving)
        deny(waiting)
        (proving, waiting) = ([], [])
    }

    private func deny(_ deliveries: [DeliveryOnLane]) {
        for delivery in deliveries { peers.tell(delivery.lane, .answered(delivery, isKnown: false)) }
    }
}
