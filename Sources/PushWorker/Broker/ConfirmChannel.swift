import EventLoop

/// The state of one confirm channel of a publisher, and when the channel is to be opened.
///
/// The caller sends the methods. Pure: events and times in.
struct ConfirmChannel {
    /// The states of a channel.
    enum State {
        case closed, opening, open
    }

    /// The present state.
    private(set) var state = State.closed
    /// When a closed channel is to be opened; nil without a connection.
    private(set) var dueAt: MonotonicTime?
    /// Whether the channel is reopened at once: the broker closed it on this connection, and it had lasted.
    private(set) var isReopening = false
    /// When its opening last began.
    private var openedAt = MonotonicTime(nanoseconds: 0)
    private var backoff = Backoff.publication

    /// A channel without a connection.
    init() {}

    /// Whether it can be published to.
    var isOpen: Bool { state == .open }
    /// Since when the broker owes the answer that opens the channel; nil if it owes none.
    var awaitedSince: MonotonicTime? { state == .opening ? openedAt : nil }

    /// There is a connection: the channel is to be opened.
    mutating func connected() { dueAt = MonotonicTime(nanoseconds: 0) }

    /// Ends the wait of a closed channel, if there is a connection.
    mutating func hurry() {
        if dueAt != nil { connected() }
    }

    /// Whether the channel is to be opened now. It then counts as opening.
    mutating func begins(now: MonotonicTime) -> Bool {
        guard state == .closed, let due = dueAt, now >= due else { return false }
        state = .opening
        dueAt = nil
        openedAt = now
        return true
    }

    /// The broker opened it and confirms on it.
    mutating func opened() { state = .open }

    /// The connection is gone, and the channel with it. The backoff is kept.
    mutating func lost() {
        state = .closed
        dueAt = nil
        isReopening = false
    }

    /// The broker closed the channel. The channel is opened again after a wait, which grows while channels do not last.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - lasting: A channel that lasted this long is opened again at once; nil to always wait.
    ///   - random: Draws the wait.
    mutating func closed(now: MonotonicTime, lasting: Duration? = nil, random: inout some RandomNumberGenerator) {
        let lifetime = now - openedAt
        backoff.ended(after: lifetime)
        isReopening = lasting.map { state == .open && lifetime >= $0 } ?? false
        dueAt = isReopening ? now : now + backoff.next(using: &random)
        state = .closed
    }
}
