import EventLoop
import RabbitMQ

/// The channels of a publish connection. Each is for publications that must not hold up the others.
struct PublishChannels {
    /// How many channels the publish connection needs at least.
    static let count: UInt16 = 4
    /// Most unconfirmed publications on one channel.
    static let window = 4_000
    /// Most unconfirmed replies: fewer than the 400 messages that RabbitMQ's reader of a connection has under way on a
    /// channel before it stops reading (`credit_flow_default_credit`). A producer may bind hundreds of queues to one key,
    /// and the broker then takes milliseconds for each reply. The results of all routes are on the same connection.
    static let replyWindow = 256
    /// Most unconfirmed publications on the slow channel: fewer than the 32 for one queue at which RabbitMQ stops.
    static let slowWindow = 24
    /// Most slow channels that may stand still on one connection.
    static let mostSlow: UInt16 = 60

    /// For all publications that belong on none of the other channels.
    let main = PublishChannel(1, window: window)
    /// For replies, so that a broken `apns.replies` hurts replies alone.
    let replies = PublishChannel(2, window: replyWindow)
    /// For publications that may cost the channel.
    let tried = PublishChannel(3, window: window)
    /// For lines (`RefusedPublications`) in which a publication was long unconfirmed. RabbitMQ may wait for a queue
    /// before it looks at the channel's next message. The channel is replaced when it stalls.
    let slow = PublishChannel(count, window: slowWindow)

    private var all: [4 of PublishChannel] { [main, replies, tried, slow] }

    /// The channel of a number; nil if no channel has it, as after a slow channel was replaced.
    subscript(number: UInt16) -> PublishChannel? {
        switch number {
        case main.number: main
        case replies.number: replies
        case tried.number: tried
        case slow.number: slow
        default: nil
        }
    }

    /// Whether nothing waits and all is answered.
    var isIdle: Bool { main.isIdle && replies.isIdle && tried.isIdle && slow.isIdle }
    /// How many publications wait for their confirm.
    var unconfirmed: Int { main.unconfirmed + replies.unconfirmed + tried.unconfirmed + slow.unconfirmed }

    /// Since when the broker has owed its answers on the channels.
    var debts: AnswerPatience.Debts {
        let debts: [5 of MonotonicTime?] = [
            main.oldest, tried.oldest, main.state.awaitedSince, replies.state.awaitedSince, tried.state.awaitedSince,
        ]
        return AnswerPatience.Debts(
            oldest: MonotonicTime.earliest(of: debts),
            slow: MonotonicTime.earliest(of: [slow.oldest, slow.state.awaitedSince] as [2 of MonotonicTime?]),
            main: main.oldest, reply: replies.oldest, overtakers: main.overtakers)
    }

    /// When a channel is to be opened; nil if none is.
    ///
    /// - Parameter hasTries: Whether the channel for tries is needed.
    func due(hasTries: Bool) -> MonotonicTime? {
        let due: [4 of MonotonicTime?] = [
            main.state.dueAt, replies.state.dueAt, hasTries ? tried.state.dueAt : nil,
            slow.waiting.isEmpty ? nil : slow.state.dueAt,
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// There is a connection: the channels are to be opened. The slow channel and the one for tries are opened only
    /// when they are needed.
    func connected() {
        for channel in all.indices { all[channel].state.connected() }
    }

    /// The connection is gone. The unanswered publications were taken from the channels before.
    func lost() {
        slow.renumber(Self.count)
        for channel in all.indices { all[channel].state.lost() }
    }

    /// Opens the channels that are due.
    ///
    /// - Parameters:
    ///   - session: The connection.
    ///   - hasTries: Whether the channel for tries is needed.
    ///   - now: The time.
    /// - Throws: `AMQPError` that ends the connection.
    func open(on session: AMQPSession, hasTries: Bool, now: MonotonicTime) throws(AMQPError) {
        if main.state.begins(now: now) { try session.openChannel(main.number) }
        if replies.state.begins(now: now) { try session.openChannel(replies.number) }
        if !slow.waiting.isEmpty, slow.state.begins(now: now) { try session.openChannel(slow.number) }
        if hasTries, tried.state.begins(now: now) { try session.openChannel(tried.number) }
    }

    /// Goes on with another slow channel, because the present one stands still.
    ///
    /// - Parameter session: The connection.
    /// - Throws: `AMQPError` that ends the connection, also if too many slow channels stand still.
    func replaceSlow(on session: AMQPSession) throws(AMQPError) {
        guard slow.number < Self.count + Self.mostSlow, Int(slow.number) < session.channelMax else {
            throw AMQPError(.timeout, "\(slow.number - Self.count + 1) channels for publishing stand still")
        }
        try session.closeChannel(slow.number)
        slow.renumber(slow.number + 1)
    }
}
