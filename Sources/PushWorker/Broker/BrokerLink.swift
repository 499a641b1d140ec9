internal import EventLoop
internal import RabbitMQ

/// What one connection to the broker is used for; DESIGN asks for two per lane, since a blocked publisher must not stop
/// deliveries and acknowledgements.
enum BrokerRole: String, Sendable {
    case consume, publish
}

/// Told when a broker connection comes and goes. On the lane's thread.
protocol BrokerLinkDelegate: AMQPConnectionDelegate {
    /// A logged-in connection is there; channels can be opened on it.
    func connectionOpened(_ role: BrokerRole, now: MonotonicTime)
    /// The connection is gone, and with it every channel, delivery and unconfirmed publication.
    func connectionLost(_ role: BrokerRole, error: AMQPError, now: MonotonicTime)
}

/// Keeps one connection to the broker alive: opens it on a helper thread, reads it on the lane's loop, and opens it
/// again with jittered backoff after it failed.
///
/// After any error from a read the connection is destroyed, never read again (rabbitmq-c may be in any state).
final class BrokerLink: ReadinessHandler {
    /// Frames read in one turn before other work of the lane gets its chance: 256 deliveries of three frames each.
    static let framesPerTurn = 768

    private enum State {
        case waiting(until: MonotonicTime)
        case connecting
        case open(AMQPConnection)
    }

    let role: BrokerRole
    /// Why there is no connection, for people.
    private(set) var trouble: String?
    /// How many connections were opened, and how many of them were lost.
    private(set) var opened = 0, lost = 0

    private var state: State
    private var backoff = Backoff.broker
    private var random = SystemRandomNumberGenerator()
    private let loop: EventLoop
    private let pulse: LanePulse
    private let connect: (BrokerRole) -> Void
    private unowned let delegate: any BrokerLinkDelegate
    private var mustReadAgain = false
    /// Why the open connection must not be used any more.
    private var doubt: AMQPError?
    private var nextHeartbeat: MonotonicTime
    private var openedAt: MonotonicTime

    /// Creates a link that connects at its first `tick`.
    ///
    /// - Parameters:
    ///   - pulse: Learns of its sockets, so that the lane can be got out of a call on one of them.
    ///   - connect: Starts a blocking connect on a helper thread, whose result comes back through `connected(_:now:)`.
    init(
        role: BrokerRole, loop: EventLoop, pulse: LanePulse, delegate: any BrokerLinkDelegate, now: MonotonicTime,
        connect: @escaping (BrokerRole) -> Void
    ) {
        self.role = role
        self.loop = loop
        self.pulse = pulse
        self.delegate = delegate
        self.connect = connect
        state = .waiting(until: now)
        nextHeartbeat = now
        openedAt = now
    }

    /// The connection, while there is one.
    var connection: AMQPConnection? {
        if case .open(let connection) = state { return connection }
        return nil
    }

    /// Whether bytes are buffered that epoll will not announce.
    var hasPendingInput: Bool { mustReadAgain }

    /// Starts a connect that is due, and lets rabbitmq-c send and check heartbeats.
    func tick(now: MonotonicTime) {
        switch state {
        case .connecting: return
        case .waiting(let until):
            guard now >= until else { return }
            state = .connecting
            connect(role)
        case .open(let connection):
            if let doubt {
                failed(doubt, now: now)
                return
            }
            guard mustReadAgain || now >= nextHeartbeat else { return }
            read(connection, now: now)
        }
    }

    /// When `tick(now:)` has something to do.
    var nextDue: MonotonicTime? {
        switch state {
        case .waiting(let until): until
        case .connecting: nil
        case .open: nextHeartbeat
        }
    }

    /// The helper thread is done.
    func connected(_ result: Result<AMQPConnection, AMQPError>, now: MonotonicTime) {
        switch result {
        case .failure(let error): failed(error, now: now)
        case .success(let connection):
            do throws(EventLoopError) {
                try loop.watch(connection.fileDescriptor, for: .readable, handler: self)
            } catch {
                failed(AMQPError(.connectionLost, "the connection cannot be watched: \(error.message)"), now: now)
                return
            }
            state = .open(connection)
            opened += 1
            pulse.opened(role, fileDescriptor: connection.fileDescriptor)
            openedAt = now
            trouble = nil
            // Frames may have come with the login's last read.
            mustReadAgain = true
            delegate.connectionOpened(role, now: now)
        }
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        if case .open(let connection) = state { read(connection, now: now) }
    }

    /// Destroys the connection after an error of any kind and starts over.
    func failed(_ error: AMQPError, now: MonotonicTime) {
        if case .open(let connection) = state {
            loop.unwatch(connection.fileDescriptor)
            lost += 1
            pulse.closed(role)
            backoff.ended(after: now.nanoseconds(since: openedAt))
            // A broker that closes its connections closes all of them, and everybody comes back at once.
            if error.code == .connectionClosed { backoff.crowded() }
        }
        state = .waiting(until: now.adding(nanoseconds: backoff.next(using: &random)))
        mustReadAgain = false
        doubt = nil
        trouble = error.message
        delegate.connectionLost(role, error: error, now: now)
    }

    /// Ends a connection that broke a rule; takes effect with the next `tick(now:)`, because it may be being read.
    func distrust(_ why: String) { doubt = AMQPError(.protocolViolation, why) }

    /// Whether the connection is to be ended, so that nothing it still says counts.
    var isDistrusted: Bool { doubt != nil }

    /// Closes in an orderly way, which also makes the broker read every acknowledgement before it.
    func close() {
        guard case .open(let connection) = state else { return }
        loop.unwatch(connection.fileDescriptor)
        connection.close()
        pulse.closed(role)
        state = .connecting
    }

    private func read(_ connection: AMQPConnection, now: MonotonicTime) {
        pulse.enter(.reading)
        defer { pulse.enter(.waiting) }
        do throws(AMQPError) {
            mustReadAgain = try connection.read(frames: Self.framesPerTurn, delegate: delegate, now: now)
        } catch {
            failed(error, now: now)
            return
        }
        // rabbitmq-c sends heartbeats only while it reads, and needs that at least twice per interval.
        nextHeartbeat = now.adding(nanoseconds: UInt64(max(connection.heartbeat, 3)) * 1_000_000_000 / 3)
    }
}
