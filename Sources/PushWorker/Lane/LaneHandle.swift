import Synchronization

/// The outside view of the lane, for the service, the admin server and helper threads.
///
/// The lane itself is made on its own thread. Messages that are posted before the lane exists wait here.
final class LaneHandle: Sendable {
    private struct State {
        var post: (@Sendable (LaneMessage) -> Void)?
        var early: [LaneMessage] = []
        var status: LaneStatus?
        var isEnded = false
        var isDrained = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Sends a message to the lane, now or as soon as it runs. A lane that has ended gets none.
    func post(_ message: LaneMessage) {
        let post = state.withLock { state in
            if state.post == nil, !state.isEnded { state.early.append(message) }
            return state.post
        }
        post?(message)
    }

    /// The lane runs. Earlier messages are delivered first, in order.
    ///
    /// - Parameter post: Puts a message into the lane's mailbox. It must not use this view.
    func started(post: @escaping @Sendable (LaneMessage) -> Void) {
        state.withLock { state in
            // Within the lock, because no later message may pass an earlier one.
            for message in state.early { post(message) }
            state.early = []
            state.post = post
        }
    }

    /// Where the lane leaves its counters.
    let metrics = LaneMetrics()
    /// What the lane shows of itself at any moment.
    let pulse = LanePulse()

    /// The lane leaves its status and its counters.
    func publish(_ status: LaneStatus, _ snapshot: LaneSnapshot) {
        state.withLock { $0.status = status }
        metrics.publish(snapshot)
    }

    /// How the lane was doing lately; nil before its first turn.
    var status: LaneStatus? { state.withLock { $0.status } }

    /// Whether the lane's thread is over.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Whether the lane ended with nothing left in flight.
    var isDrained: Bool { state.withLock { $0.isDrained } }

    /// The lane's thread is over.
    func ended(isDrained: Bool) {
        pulse.end()
        let waiters = state.withLock { state in
            state.isEnded = true
            state.isDrained = isDrained
            state.post = nil
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the lane's thread is over.
    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isEnded { state.waiters.append(continuation) }
                return state.isEnded
            }
            if isOver { continuation.resume() }
        }
    }
}
