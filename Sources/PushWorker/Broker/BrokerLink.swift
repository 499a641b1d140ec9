internal import BrokerClient
internal import EventLoop
internal import PushModel
internal import RabbitMQ

/// Keeps one connection to the broker alive: connects, reads and writes on the lane's loop, and connects again with
/// jittered backoff after it failed. Only what may hang in the system, the name look-up and the reading of files, happens
/// on a helper thread.
///
/// After any error the connection is dropped, never used again.
final class BrokerLink: ReadinessHandler {
    /// How long each step of a first attempt may take: a broker that is still booting takes connections and does not
    /// answer on them. The limit doubles with each attempt that ran into it, up to the endpoint's own.
    static let firstPatience = Duration.seconds(2)
    /// The most that `firstPatience` doubles to; the endpoint's own limit is usually less.
    private static let longestPatience = Duration.seconds(3600)
    /// The errors after which the next address is tried, because another broker may answer there.
    private static let addressFailures: Set<AMQPError.Code> = [
        .unreachable, .timeout, .connectionLost, .connectionClosed, .tls,
    ]

    /// Who the broker is told that it talks to.
    struct Identity {
        /// The name operators see in the broker's list of connections.
        var name: String
        /// The program's version.
        var version: String
    }

    private enum State {
        case waiting(until: MonotonicTime)
        /// A helper thread finds out where the brokers are; its answer is taken if it carries this number.
        case lookingUp(number: Int, until: MonotonicTime)
        /// A connection on its way, or open.
        case connected(BrokerConnection)
        /// The lane has ended.
        case closed
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
    private let identity: Identity
    private let mayConnect: () -> Bool
    private let lookUp: (BrokerRole, Int) -> Void
    private unowned let delegate: any BrokerLinkDelegate
    /// Addresses that were found and not tried yet.
    private var targets: ArraySlice<BrokerTarget> = []
    /// The address that was tried last.
    private var address: SocketAddress?
    /// Why addresses that were found failed when they were tried last, as far as others were tried instead.
    private var complaints: [SocketAddress: String] = [:]
    private var lookUps = 0
    /// How long each step of the next attempt may take.
    private var patience = firstPatience
    /// What the socket is watched for.
    private var interest: Readiness = []
    /// Why the open connection must not be used any more.
    private var doubt: AMQPError?
    private var openedAt: MonotonicTime

    /// Creates a link that connects at its first `tick`.
    ///
    /// - Parameters:
    ///   - role: What it is for.
    ///   - identity: Who the broker is told that it talks to.
    ///   - loop: Watches its socket.
    ///   - delegate: Is told what happens.
    ///   - now: The time.
    ///   - mayConnect: Whether the link it follows is open; a link that follows none always may. Of two links that were
    ///     lost together only one draws a pause, so that their worker is ready as soon as that one is over.
    ///   - lookUp: Has a helper thread find the brokers; its answer comes back through `found(_:number:now:)`.
    init(
        role: BrokerRole, identity: Identity, loop: EventLoop, delegate: any BrokerLinkDelegate, now: MonotonicTime,
        mayConnect: @escaping () -> Bool = { true }, lookUp: @escaping (BrokerRole, Int) -> Void
    ) {
        self.role = role
        self.identity = identity
        self.loop = loop
        self.delegate = delegate
        self.mayConnect = mayConnect
        self.lookUp = lookUp
        state = .waiting(until: now)
        openedAt = now
    }

    /// The session that is logged in, while there is one.
    var session: AMQPSession? {
        guard case .connected(let connection) = state, connection.stage == .open else { return nil }
        return connection.session
    }

    /// Whether all that was written has gone out, so that more is taken at once. Where something waits, the link writes
    /// it as soon as the socket takes it, which begins a turn of the lane.
    var isReadyToSend: Bool {
        guard case .connected(let connection) = state, connection.stage == .open else { return false }
        return !connection.hasPendingOutput && connection.session.hasRoom
    }

    // MARK: Turns

    /// Does what is due: begins to connect, gives up what takes too long, sends and expects heartbeats.
    func tick(now: MonotonicTime) {
        switch state {
        case .closed: return
        case .waiting(let until):
            guard now >= until, mayConnect() else { return }
            lookUps += 1
            state = .lookingUp(number: lookUps, until: now.adding(BlockingCall.patience))
            lookUp(role, lookUps)
        case .lookingUp(_, let until):
            guard now >= until else { return }
            failed(AMQPError(.unresolved, "looking the brokers up took longer than \(BlockingCall.patience)"), now: now)
        case .connected(let connection):
            if let doubt { return failed(doubt, now: now) }
            guard let due = connection.nextDue(now: now), now >= due else { return }
            advance(connection, [], now: now)
        }
    }

    /// When `tick(now:)` has something to do.
    func nextDue(now: MonotonicTime) -> MonotonicTime? {
        switch state {
        case .closed: nil
        case .waiting(let until): mayConnect() ? until : nil
        case .lookingUp(_, let until): until
        case .connected(let connection): doubt == nil ? connection.nextDue(now: now) : now
        }
    }

    /// Writes what the lane's turn has left in the session, in one go.
    func flush(now: MonotonicTime) {
        guard case .connected(let connection) = state, connection.hasPendingOutput else { return }
        do throws(AMQPError) {
            try connection.flush(delegate, now: now)
            try watch(connection)
        } catch {
            failed(error, now: now)
        }
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        if case .connected(let connection) = state { advance(connection, readiness, now: now) }
    }

    private func advance(_ connection: BrokerConnection, _ readiness: Readiness, now: MonotonicTime) {
        let wasOpen = connection.stage == .open
        do throws(AMQPError) {
            try connection.advance(readiness, delegate: delegate, now: now)
            try watch(connection)
        } catch {
            // A doubt was there before, and is the cause.
            return wasOpen ? failed(doubt ?? error, now: now) : attemptFailed(error, now: now)
        }
        guard !wasOpen, connection.stage == .open else { return }
        opened += 1
        openedAt = now
        trouble = nil
        patience = Self.firstPatience
        if let address { complaints[address] = nil }
        delegate.connectionOpened(role, now: now)
    }

    /// Lets the loop wait for what the connection wants.
    private func watch(_ connection: BrokerConnection) throws(AMQPError) {
        guard connection.interest != interest else { return }
        do throws(EventLoopError) {
            if interest.isEmpty {
                try loop.watch(connection.fileDescriptor, for: connection.interest, handler: self)
            } else {
                try loop.change(connection.fileDescriptor, to: connection.interest)
            }
            interest = connection.interest
        } catch {
            throw AMQPError(.connectionLost, "the connection cannot be watched: \(error.message)")
        }
    }

    // MARK: Connecting

    /// The link that this one follows is open: there is no reason to wait any longer.
    func connectAtOnce(now: MonotonicTime) {
        if case .waiting = state { state = .waiting(until: now) }
    }

    /// The helper thread is done.
    ///
    /// - Parameters:
    ///   - result: Where the brokers are, in the order in which they are tried.
    ///   - number: Which look-up this answers; one that was forgotten counts for nothing.
    ///   - now: The time.
    func found(_ result: Result<[BrokerTarget], AMQPError>, number: Int, now: MonotonicTime) {
        guard case .lookingUp(number, _) = state else { return }
        switch result {
        case .failure(let error): failed(error, now: now)
        case .success(let found):
            targets = found[...]
            // No more than there are addresses.
            complaints = complaints.filter { complaint in found.contains { $0.address == complaint.key } }
            connect(now: now)
        }
    }

    /// Tries the next address.
    private func connect(now: MonotonicTime) {
        drop()
        guard let target = targets.popFirst() else {
            return failed(AMQPError(.unresolved, "no broker has an address"), now: now)
        }
        address = target.address
        do throws(AMQPError) {
            let connection = try BrokerConnection(
                target, clientName: identity.name, clientVersion: identity.version,
                bodyLimit: JobDecoder.maximumBodyLength, consumes: role == .consume,
                patience: min(patience, target.endpoint.connectionTimeout), now: now)
            state = .connected(connection)
            try watch(connection)
        } catch {
            attemptFailed(error, now: now)
        }
    }

    /// An attempt did not get as far as a login: another address may lead to a broker that works. Only a refusal would
    /// be repeated there.
    private func attemptFailed(_ error: AMQPError, now: MonotonicTime) {
        // A broker that is slow, not booting, gets more time with each attempt.
        if error.code == .timeout { patience = min(patience * 2, Self.longestPatience) }
        guard Self.addressFailures.contains(error.code), !targets.isEmpty else { return failed(error, now: now) }
        trouble = error.message
        if let address, complaints.updateValue(error.message, forKey: address) != error.message {
            delegate.addressFailed(role, error: error)
        }
        connect(now: now)
    }

    // MARK: Ends

    /// Drops the connection after an error of any kind and starts over.
    func failed(_ error: AMQPError, now: MonotonicTime) {
        if session != nil {
            lost += 1
            // A broker that closes its connections closes all of them, and everybody comes back at once. Those that come
            // late are chosen once for the whole worker; what follows another link is late as often as that is.
            backoff.lost(
                after: now - openedAt, isCrowd: error.code == .connectionClosed,
                isLate: role == .publish && OutageDraw.Shared.ofProcess.isLate(now: now, using: &random))
        }
        drop()
        state = .waiting(until: now + backoff.next(using: &random))
        targets = []
        doubt = nil
        trouble = error.message
        delegate.connectionLost(role, error: error, now: now)
    }

    /// Ends a connection that broke a rule; takes effect with the next `tick(now:)`, because it may be being read.
    func distrust(_ why: String) { doubt = AMQPError(.protocolViolation, why) }

    /// Whether the connection is to be ended, so that nothing it still says counts.
    var isDistrusted: Bool { doubt != nil }

    /// Closes in an orderly way, which also makes the broker read every acknowledgement before it; waits for that.
    func close() {
        if case .connected(let connection) = state, connection.stage == .open {
            connection.close(within: .seconds(2), delegate: delegate)
        }
        drop()
        state = .closed
    }

    /// Stops watching the socket; it is closed with the connection.
    private func drop() {
        if case .connected(let connection) = state, !interest.isEmpty { loop.unwatch(connection.fileDescriptor) }
        interest = []
    }
}
