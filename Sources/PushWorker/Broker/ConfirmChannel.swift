internal import EventLoop

/// Where a confirm channel of a publisher stands: when it is opened, and when again.
///
/// The caller sends the methods. Pure: events and times in.
struct ConfirmChannel {
    /// What a channel can be.
    enum State {
        case closed, opening, open
    }

    /// What it is.
    private(set) var state = State.closed
    /// When a closed channel is to be opened; nil without a connection.
    private(set) var dueAt: MonotonicTime?
    /// Whether the broker closed it on this connection after it had lasted, so that it is back in a moment.
    private(set) var isReopening = false
    /// When it was opened last.
    private var openedAt = MonotonicTime(nanoseconds: 0)
    private var backoff = Backoff.publication

    /// A channel without a connection.
    init() {}

    /// Whether it can be published to.
    var isOpen: Bool { state == .open }
    /// Since when the broker owes it the answer that opens it; nil where it does not.
    var awaitedSince: MonotonicTime? { state == .opening ? openedAt : nil }

    /// There is a connection: the channel is to be opened.
    mutating func connected() { dueAt = MonotonicTime(nanoseconds: 0) }

    /// Ends the wait of a closed channel, where there is a connection.
    mutating func hurry() {
        if dueAt != nil { connected() }
    }

    /// Whether it is to be opened now; it then counts as opening.
    mutating func begins(now: MonotonicTime) -> Bool {
        guard state == .closed, let due = dueAt, now >= due else { return false }
        state = .opening
        dueAt = nil
        openedAt = now
        return true
    }

    /// The broker opened it and confirms on it.
    mutating func opened() { state = .open }

    /// The connection is gone, and the channel with it; how often it was closed before is kept in mind.
    mutating func lost() {
        state = .closed
        dueAt = nil
        isReopening = false
    }

    /// The broker closed the channel: it is opened again after a wait that grows while it does not last.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - lasting: A channel that lasted this long is opened again at once; nil for none.
    ///   - random: Draws the wait.
    mutating func closed(now: MonotonicTime, lasting: Duration? = nil, random: inout some RandomNumberGenerator) {
        let lifetime = now - openedAt
        backoff.ended(after: lifetime)
        isReopening = lasting.map { state == .open && lifetime >= $0 } ?? false
        dueAt = isReopening ? now : now + backoff.next(using: &random)
        state = .closed
    }
}
