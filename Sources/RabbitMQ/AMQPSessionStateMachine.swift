import EventLoop

/// Where a connection and its channels stand: what may come next, and how to answer (AMQP 0-9-1, 2.2.4, and the classes
/// connection and channel).
///
/// Pure: events come in, actions come out. Anything that a broker must not send is an error, never a trap.
struct AMQPSessionStateMachine {
    /// Where the connection stands.
    enum Phase: Equatable {
        /// The protocol header is sent; the broker begins.
        case awaitingStart
        /// The login is sent.
        case awaitingTune
        /// The limits are agreed to, and the virtual host is asked for.
        case awaitingOpenOk
        /// Channels can be opened.
        case open
        /// We asked for the end; frames on channels are dropped.
        case closing
        /// The connection has ended, in order or not.
        case closed
    }

    /// A method that came in for the connection itself.
    enum ConnectionEvent {
        /// connection.start: the protocol's version, how one can log in, separated by spaces, and the broker's version.
        case start(major: UInt8, minor: UInt8, mechanisms: String, version: BrokerVersion?)
        /// connection.secure: the broker wants one more step of the login.
        case secure
        /// connection.tune.
        case tune(AMQPLimits)
        /// connection.open-ok.
        case openOk
        /// connection.close, with the broker's reason.
        case close(code: UInt16, text: String)
        /// connection.close-ok.
        case closeOk
        /// connection.blocked: the broker stopped reading what is published, for this reason.
        case blocked(reason: String)
        /// connection.unblocked: it reads again.
        case unblocked
    }

    /// How to react to an event of the connection.
    enum ConnectionAction: Equatable {
        /// Nothing.
        case ignore
        /// Send connection.start-ok with the login.
        case logIn
        /// Send connection.tune-ok and connection.open.
        case open(AMQPLimits)
        /// Send nothing. The session reports `blocked` and `unblocked` to its delegate; the rest shows in `phase`.
        case report
        /// Send connection.close-ok; the connection is over.
        case confirmClose(code: UInt16, text: String)
    }

    /// Where a channel stands.
    enum ChannelPhase { case unused, opening, open, closing, closed }

    /// A frame that came in for a channel.
    enum ChannelEvent { case openOk, close, closeOk, other }

    /// How to react to an event of a channel.
    enum ChannelAction: Equatable {
        /// Nothing: after a close in either direction, frames that are still under way are dropped.
        case ignore
        /// The channel is open: report it.
        case opened
        /// The broker closed the channel: confirm that, and report it.
        case confirmClose
        /// The broker closed a channel that is closed already: confirm that, too, and report nothing.
        case confirmAgain
        /// The channel is closed as asked for: report it.
        case closed
        /// The frame is meant for an open channel: read it.
        case take
    }

    /// Where the connection stands.
    private(set) var phase = Phase.awaitingStart
    /// The agreed limits; before connection.tune, the wanted ones.
    private(set) var limits: AMQPLimits
    /// The broker's version; nil before its greeting, and where that has none.
    private(set) var brokerVersion: BrokerVersion?
    /// Whether the broker announced that it does not read what is published.
    private(set) var isBlocked = false
    private let mechanism: String
    /// Channels by number; grows with `openChannel`.
    private var channels: [ChannelPhase] = [.unused]
    private var lastHeard: MonotonicTime
    private var lastSent: MonotonicTime

    /// A connection whose protocol header is sent.
    ///
    /// - Parameters:
    ///   - wanted: The limits to ask for.
    ///   - mechanism: How to log in, `PLAIN` or `EXTERNAL`.
    ///   - now: The time.
    init(wanted: AMQPLimits, mechanism: String, now: MonotonicTime) {
        limits = wanted
        self.mechanism = mechanism
        lastHeard = now
        lastSent = now
    }

    // MARK: The connection

    /// Takes an event of the connection.
    ///
    /// - Parameter event: What came in.
    /// - Returns: What is to be done.
    /// - Throws: `protocolViolation` for an event that must not come now, `refused` or `unsuitable` where no login is
    ///   possible.
    mutating func received(_ event: ConnectionEvent) throws(AMQPError) -> ConnectionAction {
        switch (phase, event) {
        case (.awaitingStart, .start(let major, let minor, let mechanisms, let version)):
            guard major == 0, minor == 9 else {
                throw AMQPError(
                    .protocolViolation, "the broker speaks AMQP \(major).\(minor), and this client 0.9 (0-9-1)")
            }
            guard mechanisms.split(separator: " ").contains(Substring(mechanism)) else {
                throw AMQPError(.refused, "the broker does not offer the \(mechanism) login")
            }
            phase = .awaitingTune
            brokerVersion = version
            return .logIn
        case (.awaitingTune, .secure):
            throw AMQPError(.refused, "the broker wants a second step of the \(mechanism) login, which has only one")
        case (.awaitingTune, .tune(let offer)):
            limits = limits.agreed(with: offer)
            guard limits.frameMax >= AMQPSession.smallestFrameMax else {
                throw AMQPError(
                    .unsuitable,
                    "the broker allows frames of \(limits.frameMax) bytes, and some messages need "
                        + "\(AMQPSession.smallestFrameMax): raise frame_max in its configuration (131072 by default)")
            }
            phase = .awaitingOpenOk
            return .open(limits)
        case (.awaitingOpenOk, .openOk):
            phase = .open
            return .report
        case (.open, .blocked):
            isBlocked = true
            return .report
        case (.open, .unblocked):
            isBlocked = false
            return .report
        case (.closing, .closeOk):
            phase = .closed
            return .report
        case (.closing, .blocked), (.closing, .unblocked): return .ignore
        case (.awaitingStart, .close), (.awaitingTune, .close), (.awaitingOpenOk, .close), (.open, .close),
            (.closing, .close):
            guard case .close(let code, let text) = event else { return .ignore }
            phase = .closed
            return .confirmClose(code: code, text: text)
        default: throw AMQPError(.protocolViolation, "the broker sent \(event.name) \(phase.text)")
        }
    }

    /// Notes that the end is asked for.
    ///
    /// - Returns: Whether connection.close is to be sent: not before connection.open was sent, and only once.
    mutating func close() -> Bool {
        guard phase == .open || phase == .awaitingOpenOk else {
            if phase != .closing { phase = .closed }
            return false
        }
        phase = .closing
        return true
    }

    /// Notes that the connection is over, after an error of any kind.
    mutating func ended() { phase = .closed }

    // MARK: Channels

    /// Where a channel stands.
    ///
    /// - Parameter channel: Its number.
    /// - Returns: `unused` for one that was never opened.
    func phase(of channel: UInt16) -> ChannelPhase {
        Int(channel) < channels.count ? channels[Int(channel)] : .unused
    }

    /// Notes that a channel is asked for; it must not be open already.
    ///
    /// - Parameter channel: Its number, 1 to `limits.channelMax`.
    mutating func openChannel(_ channel: UInt16) {
        precondition((1...max(1, limits.channelMax)).contains(Int(channel)), "no such channel number")
        while channels.count <= Int(channel) { channels.append(.unused) }
        let phase = channels[Int(channel)]
        precondition(phase == .unused || phase == .closed, "channel \(channel) is opened twice")
        channels[Int(channel)] = .opening
    }

    /// Notes that a channel's end is asked for.
    ///
    /// - Parameter channel: Its number.
    /// - Returns: Whether channel.close is to be sent: not for a channel that is closed or closing.
    mutating func closeChannel(_ channel: UInt16) -> Bool {
        guard [.opening, .open].contains(phase(of: channel)) else { return false }
        channels[Int(channel)] = .closing
        return true
    }

    /// Takes an event of a channel.
    ///
    /// - Parameters:
    ///   - event: What came in.
    ///   - channel: The channel's number, not 0.
    /// - Returns: What is to be done.
    /// - Throws: `protocolViolation` while the connection is not open, for a channel that was never opened or is not
    ///   open yet, and for an open-ok or close-ok that was not asked for.
    mutating func received(_ event: ChannelEvent, on channel: UInt16) throws(AMQPError) -> ChannelAction {
        guard phase == .open else {
            if phase == .closing { return .ignore }
            throw AMQPError(.protocolViolation, "the broker sent a frame on channel \(channel) \(phase.text)")
        }
        switch (phase(of: channel), event) {
        case (.unused, _):
            throw AMQPError(.protocolViolation, "the broker sent a frame on channel \(channel), which was never opened")
        case (.open, .other): return .take
        case (.opening, .openOk):
            channels[Int(channel)] = .open
            return .opened
        case (.closed, .close): return .confirmAgain
        case (.opening, .close), (.open, .close), (.closing, .close):
            channels[Int(channel)] = .closed
            return .confirmClose
        case (.closing, .closeOk):
            channels[Int(channel)] = .closed
            return .closed
        case (.closing, _), (.closed, _): return .ignore
        case (.opening, _):
            throw AMQPError(.protocolViolation, "the broker sent a frame on channel \(channel) before open-ok")
        case (.open, _):
            throw AMQPError(.protocolViolation, "the broker answered on channel \(channel) what was not asked")
        }
    }

    // MARK: Heartbeats

    /// Notes that something arrived.
    ///
    /// - Parameter now: The time.
    mutating func heard(now: MonotonicTime) { lastHeard = max(lastHeard, now) }

    /// Notes that something was sent.
    ///
    /// - Parameter now: The time.
    mutating func sent(now: MonotonicTime) { lastSent = max(lastSent, now) }

    private var interval: Duration { .seconds(max(0, limits.heartbeat)) }
    private var keepsHeartbeats: Bool { limits.heartbeat > 0 && (phase == .open || phase == .closing) }

    /// Whether nothing was heard for one and a half heartbeats; nothing is to be published or acknowledged then.
    ///
    /// - Parameter now: The time.
    /// - Returns: Whether the broker is suspect.
    func isSuspect(now: MonotonicTime) -> Bool {
        keepsHeartbeats && now - lastHeard > interval + interval / 2
    }

    /// Whether nothing was heard for two heartbeats; the connection is to be dropped then (AMQP 0-9-1, 4.2.7).
    ///
    /// - Parameter now: The time.
    /// - Returns: Whether the broker is lost.
    func isLost(now: MonotonicTime) -> Bool { keepsHeartbeats && now - lastHeard > interval * 2 }

    /// Whether a heartbeat is due: nothing was sent for half an interval.
    ///
    /// - Parameter now: The time.
    /// - Returns: Whether it is due.
    func owesHeartbeat(now: MonotonicTime) -> Bool {
        keepsHeartbeats && now - lastSent >= interval / 2
    }

    /// When `isSuspect`, `isLost` or `owesHeartbeat` changes next.
    ///
    /// - Parameter now: The time.
    /// - Returns: Nil before the login is complete, after the end, and without heartbeats.
    func nextHeartbeatEvent(now: MonotonicTime) -> MonotonicTime? {
        guard keepsHeartbeats else { return nil }
        let silence = isSuspect(now: now) ? interval * 2 : interval + interval / 2
        return min(lastSent + interval / 2, lastHeard + silence + .nanoseconds(1))
    }
}

extension AMQPSessionStateMachine.Phase {
    /// The phase in words, to follow "sent …".
    fileprivate var text: String {
        switch self {
        case .awaitingStart: "instead of its greeting"
        case .awaitingTune, .awaitingOpenOk: "during the login"
        case .open: "on an open connection"
        case .closing, .closed: "after the end"
        }
    }
}

extension AMQPSessionStateMachine.ConnectionEvent {
    /// The method's name.
    fileprivate var name: String {
        switch self {
        case .start: "connection.start"
        case .secure: "connection.secure"
        case .tune: "connection.tune"
        case .openOk: "connection.open-ok"
        case .close: "connection.close"
        case .closeOk: "connection.close-ok"
        case .blocked: "connection.blocked"
        case .unblocked: "connection.unblocked"
        }
    }
}
