package import EventLoop

/// Decides the next AMQP method of one route's consume channel.
///
/// One channel per route, one consumer per queue of the route. Pure: time comes in.
///
/// - Prefetch counts only for new consumers. So a change of the prefetch is three methods: cancel, qos, consume.
/// - To stop is only cancel. The channel stays open, so that what is in flight can still be acknowledged.
/// - Methods go out one at a time, and their replies come back as events. The request helpers of rabbitmq-c lose frames
///   once several channels are live.
/// - A cancel by the broker ends the whole channel: the route closes it, and opens it again after a pause. RabbitMQ 4.3
///   cancels a consumer when a delivery is unacknowledged for too long (`consumer_timeout`). That consumer still exists:
///   it gets messages again once it has acknowledged what it holds, beside the consumer that took its place. Earlier
///   versions close the channel themselves then. So what follows is the same on all versions.
package struct RouteConsumer {
    /// One method to send on the route's channel.
    package enum Action: Equatable {
        case openChannel
        case setPrefetch(Int)
        case startConsuming(queue: Int)
        case cancelConsuming(queue: Int)
        case closeChannel
    }

    /// A method that was sent to the broker and has no answer yet.
    package struct Request: Equatable {
        /// The method.
        package let action: Action
        /// When it was sent.
        package let since: MonotonicTime
    }

    /// How long the broker may owe an answer on a route's channel, before the connection counts as failed.
    ///
    /// Only a new connection helps: RabbitMQ works on one request of a channel after the other, so a channel that owes
    /// an answer cannot even be closed. But a new connection costs all routes of the lane their deliveries.
    ///
    /// Slow requests to a healthy broker end sooner. A command to a quorum queue without a leader fails after 30 s. A
    /// node that is cut off counts as down after 75 s at most (`net_ticktime` of 60 s).
    package static let patience = Duration.seconds(90)

    /// How long the channel of a route that has ended stays open.
    ///
    /// RabbitMQ hands acknowledgements to a quorum queue 32 at a time (`quorum_commands_soft_limit`). If the channel is
    /// closed before RabbitMQ has handed all of them over, it forgets the rest. It then delivers again what was
    /// acknowledged.
    static let closingDelay = Duration.seconds(10)

    /// The reply codes for something that does not exist, or is not allowed (AMQP 0-9-1, 1.2).
    private static let unavailable: Set<UInt16> = [403, 404]
    /// How often an idle route asks again for a missing queue. While the route is idle, the question costs nothing.
    static let reconsideration = Duration.seconds(60)
    /// After how long the route asks again for a missing queue even if it is not idle. The question may cost the
    /// channel. The broker then delivers the channel's messages again.
    static let longestReconsideration = Duration.seconds(600)

    private enum Channel {
        case closed, opening, open
        /// The broker cancelled a consumer, so the route closes the channel. Nothing is settled on it any more.
        case abandoned
    }

    /// Unacknowledged messages wanted per consumer; 0 stops consuming.
    package var wantedPrefetch = 0
    /// The same for the queue of `high` jobs; counts only while `wantedPrefetch` is not 0. Nil for the prefetch of the
    /// other queues.
    package var wantedHighPrefetch: Int?
    /// `wantedPrefetch` and `wantedHighPrefetch` together.
    var wantedWindow: RoutePrefetch.Window {
        get { RoutePrefetch.Window(normal: wantedPrefetch, high: wantedHighPrefetch) }
        set { (wantedPrefetch, wantedHighPrefetch) = (newValue.normal, newValue.high) }
    }
    /// Why the route, or one of its queues, is not consumed although it should be, with the broker's words where it
    /// gave some.
    package var trouble: String? { ownTrouble ?? (isOptionalMissing ? optionalTrouble : nil) }
    private var ownTrouble: String?
    private var optionalTrouble: String?

    /// When the channel is to be closed for good; nil for a channel that stays.
    private var closesAt: MonotonicTime?
    private var isConnected = false
    private var channel = Channel.closed
    private var pending: Action?
    private var consuming: [Bool]
    /// The prefetch with which each queue's consumer was started.
    private var granted: [Int]
    /// The position of the queue of `high` jobs; nil without one.
    private let high: Int?
    /// The position of the queue that the route can do without; nil where it needs all of them.
    private let optional: Int?
    /// Whether the broker lacks the optional queue or does not let it be read, as far as is known on this connection.
    private var isOptionalMissing = false
    /// Since when the optional queue is missing, and when the route may ask for it again.
    private var missingSince = MonotonicTime(nanoseconds: 0)
    private var reconsideredAt = MonotonicTime(nanoseconds: 0)
    private var serials: [UInt32]
    /// The prefetch that new consumers of the channel get; 0 before one is set.
    private var prefetch = 0
    /// The queue whose consumer made the broker close the last channel. The route asks for this queue first: if the
    /// broker closes the channel again, it has not delivered messages that it must deliver once more.
    private var doubtful: Int?
    private var backoff = Backoff.queue
    private var holdUntil = MonotonicTime(nanoseconds: 0)
    /// When a channel or a consumer was asked for last.
    private var askedAt = MonotonicTime(nanoseconds: 0)
    /// When anything was asked for last.
    private var requestedAt = MonotonicTime(nanoseconds: 0)

    /// Creates the consumer of a route.
    ///
    /// - Parameters:
    ///   - queues: How many queues it has.
    ///   - optional: The position of a queue that a broker of an earlier topology lacks. The others are consumed
    ///     without it.
    ///   - high: The position of the queue of `high` jobs; nil without one.
    package init(queues: Int, optional: Int? = nil, high: Int? = nil) {
        self.optional = optional
        self.high = high
        consuming = Array(repeating: false, count: queues)
        granted = Array(repeating: 0, count: queues)
        serials = Array(repeating: 0, count: queues)
    }

    /// Whether every queue of the route is being consumed with the wanted prefetch. An optional queue that is missing
    /// does not count.
    package var isConsuming: Bool { missing == nil && outdated == nil }
    /// The first queue whose consumer has another prefetch than is wanted.
    private var outdated: Int? { consuming.indices.first { consuming[$0] && granted[$0] != wanted(of: $0) } }
    /// The prefetch wanted of a queue.
    func wanted(of queue: Int) -> Int {
        guard queue == high, wantedPrefetch > 0 else { return wantedPrefetch }
        return wantedHighPrefetch ?? wantedPrefetch
    }
    /// The next queue that lacks its consumer.
    private var missing: Int? { consuming.indices.first { !consuming[$0] && !(isOptionalMissing && $0 == optional) } }
    /// Whether the broker serves the route's queues. Stays true while the worker itself cancels consumers, to change
    /// the prefetch or to stop.
    package private(set) var isServing = false
    /// Whether a consumer exists or may exist at the broker: deliveries can still arrive.
    package var mayReceive: Bool {
        guard channel == .open else { return false }
        if case .startConsuming = pending { return true }
        return consuming.contains(true)
    }
    /// How many unacknowledged messages all consumers may hold together.
    var grantedMessages: Int { consuming.indices.reduce(0) { consuming[$1] ? $0 + granted[$1] : $0 } }
    /// Whether the channel is open, so that acknowledgements can be sent.
    package var isOpen: Bool { channel == .open }
    /// Whether the broker cancelled a consumer, and the channel is not closed yet.
    var isAbandoned: Bool { channel == .abandoned }
    /// Whether there is no channel, and the broker owes no answer about one.
    package var isClosed: Bool { channel == .closed }
    /// The prefetch of the present consumers, other than that of `high` jobs. With no other consumer, it is the
    /// prefetch of the consumer of `high` jobs; 0 with no consumer at all.
    package var currentPrefetch: Int {
        let queue = consuming.indices.first { consuming[$0] && $0 != high }
        return queue.map { granted[$0] } ?? currentHighPrefetch
    }
    /// The prefetch of the present consumer of `high` jobs; 0 without one.
    package var currentHighPrefetch: Int { high.map { consuming[$0] ? granted[$0] : 0 } ?? 0 }
    /// `currentPrefetch` and `currentHighPrefetch` together.
    var currentWindow: RoutePrefetch.Window {
        RoutePrefetch.Window(normal: currentPrefetch, high: currentHighPrefetch)
    }
    /// The number of a queue's present consumer, counted from 1; 0 before the first. The tag of the consumer contains
    /// it, so it differs from earlier tags.
    package func serial(of queue: Int) -> UInt32 { serials[queue] }
    /// The request that the broker has not answered; nil without one. There is never more than one.
    package var unanswered: Request? {
        let action = channel == .opening ? .openChannel : pending
        return action.map { Request(action: $0, since: requestedAt) }
    }
    /// When `nextAction(now:)` or `reconsider(now:isIdle:)` has something to do only because time passed; nil for
    /// never.
    package func nextDue(now: MonotonicTime) -> MonotonicTime? {
        let times = [holdUntil, isOptionalMissing ? reconsideredAt : holdUntil, closesAt ?? holdUntil]
        return isConnected ? times.filter { $0 > now }.min() : nil
    }

    /// Asks again for a missing queue, because somebody may have declared it since.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - isIdle: Whether the route has no delivery.
    package mutating func reconsider(now: MonotonicTime, isIdle: Bool) {
        guard isOptionalMissing, channel == .open, now >= reconsideredAt else { return }
        if isIdle || now >= missingSince + Self.longestReconsideration {
            isOptionalMissing = false
        } else {
            reconsideredAt = now + Self.reconsideration
        }
    }

    /// All methods to send now, in the order to send them.
    mutating func actions(at moment: Moment) -> [Action] {
        var actions: [Action] = []
        while let action = nextAction(now: moment.monotonic) { actions.append(action) }
        return actions
    }

    /// The next method to send. Nil without a connection, while a reply or a later time is awaited, or once the route
    /// has what it wants.
    package mutating func nextAction(now: MonotonicTime) -> Action? {
        guard isConnected, pending == nil else { return nil }
        let action: Action?
        switch channel {
        case .opening: action = nil
        case .abandoned: action = .closeChannel
        case .closed:
            guard wantedPrefetch > 0, now >= holdUntil else { return nil }
            channel = .opening
            askedAt = now
            requestedAt = now
            return .openChannel
        case .open:
            if let outdated {
                action = .cancelConsuming(queue: outdated)
            } else if let closesAt {
                action = now >= closesAt ? .closeChannel : nil
            } else if wantedPrefetch == 0 || now < holdUntil {
                action = nil
            } else if let queue = doubtful ?? missing {
                let wanted = wanted(of: queue)
                action = prefetch == wanted ? .startConsuming(queue: queue) : .setPrefetch(wanted)
            } else {
                action = nil
            }
        }
        if case .startConsuming(let queue) = action {
            serials[queue] &+= 1
            askedAt = now
        }
        if action != nil { requestedAt = now }
        pending = action
        return action
    }

    /// Cancels the remaining consumers, and closes the channel for good after `closingDelay`.
    package mutating func end(now: MonotonicTime) {
        closesAt = now + Self.closingDelay
        wantedPrefetch = 0
    }

    /// The consume connection is up; channels can be opened.
    package mutating func connected() {
        isConnected = true
        isOptionalMissing = false
        holdUntil = MonotonicTime(nanoseconds: 0)
    }

    /// The consume connection is gone, and every channel with it.
    package mutating func connectionLost() {
        isConnected = false
        channelGone()
    }

    /// The broker opened the channel.
    package mutating func channelOpened() {
        channel = .open
    }

    /// The broker accepted the prefetch.
    package mutating func prefetchSet() {
        guard case .setPrefetch(let count) = pending else { return }
        prefetch = count
        pending = nil
    }

    /// The broker started the consumer that was asked for.
    package mutating func consumeStarted() {
        guard case .startConsuming(let queue) = pending else { return }
        consuming[queue] = true
        granted[queue] = prefetch
        pending = nil
        doubtful = nil
        if missing == nil {
            ownTrouble = nil
            isServing = true
        }
    }

    /// A consumer ended, because we asked for it.
    package mutating func consumeCancelled(queue: Int) {
        consuming[queue] = false
        if pending == .cancelConsuming(queue: queue) { pending = nil }
    }

    /// The broker cancelled a consumer. The channel is given up with all its deliveries.
    ///
    /// - Parameters:
    ///   - hasDeliveries: Whether the channel has unacknowledged deliveries.
    ///   - now: The time.
    ///   - random: Draws the pause.
    /// - Returns: Whether the channel is given up now; false where it was given up before.
    @discardableResult
    package mutating func cancelledByBroker(
        hasDeliveries: Bool, now: MonotonicTime, random: inout some RandomNumberGenerator
    ) -> Bool {
        guard channel == .open else { return false }
        channelGone()
        channel = .abandoned
        isOptionalMissing = false
        ownTrouble = "the broker cancelled the consumer: \(Self.cancelCause(hasDeliveries: hasDeliveries))"
        hold(now: now, random: &random)
        return true
    }

    /// Why the broker cancels a consumer, which it does not say.
    ///
    /// - Parameter hasDeliveries: Whether the consumer's channel has unacknowledged deliveries.
    package static func cancelCause(hasDeliveries: Bool) -> String {
        let deleted = "its queue was deleted"
        guard hasDeliveries else { return deleted }
        return "the broker's patience with a delivery that is not acknowledged ended (consumer_timeout), or \(deleted)"
    }

    /// The broker closed the channel, for instance because a queue is missing (404) or may not be read (403).
    package mutating func channelClosed(
        code: UInt16, text: String, now: MonotonicTime, random: inout some RandomNumberGenerator
    ) {
        if case .startConsuming(let queue) = pending {
            if queue == optional, Self.unavailable.contains(code) {
                // The route asks for this queue first, so the broker has mostly delivered nothing that it must deliver
                // again.
                isOptionalMissing = true
                missingSince = now
                reconsideredAt = now + Self.reconsideration
                doubtful = nil
                channelGone()
                optionalTrouble = "retries are not consumed, see `martlet topology apply`: \(text)"
                return
            }
            doubtful = queue
        }
        // The route asked for it, and waits as after the broker's cancel.
        let isAbandoned = channel == .abandoned
        channelGone()
        guard !isAbandoned else { return }
        isOptionalMissing = false
        ownTrouble = "the broker closed the channel: \(code) \(text)"
        hold(now: now, random: &random)
    }

    /// Backs off. The delay doubles each time the last request did not stay up.
    private mutating func hold(now: MonotonicTime, random: inout some RandomNumberGenerator) {
        backoff.ended(after: now - askedAt)
        holdUntil = now + backoff.next(using: &random)
    }

    private mutating func channelGone() {
        channel = .closed
        isServing = false
        pending = nil
        prefetch = 0
        for queue in consuming.indices { consuming[queue] = false }
    }
}
