import BrokerClient
import EventLoop
import PushModel
import RabbitMQ

/// Keeps one connection to the broker alive: connects, reads and writes on the lane's loop, and connects again with
/// jittered backoff after a failure. Looking up names and reading files may hang in the system, so they run on a helper
/// thread.
///
/// After any error the connection is dropped, never used again.
final class BrokerLink: ReadinessHandler {
    /// The errors after which the next address is tried, because another broker may answer there.
    private static let addressFailures: Set<AMQPError.Code> = [
        .unreachable, .timeout, .connectionLost, .connectionClosed, .tls,
    ]

    /// The use of one connection to the broker. A lane has two connections, because a blocked publisher must not stop
    /// deliveries and acknowledgements.
    enum Role: String, Sendable {
        case consume, publish
    }

    /// How the worker introduces itself to the broker.
    struct Identity {
        /// The name operators see in the broker's list of connections.
        var name: String
        /// The program's version.
        var version: String
    }

    private enum State {
        case waiting(until: MonotonicTime)
        /// A helper thread looks the brokers up. Its answer counts if it carries this number.
        case lookingUp(number: Int, until: MonotonicTime)
        /// A connection that is being made, or is open.
        case connected(BrokerConnection)
        /// The lane has ended.
        case closed
    }

    /// The use of the connection.
    let role: Role
    /// Why there is no connection, for people.
    private(set) var trouble: String?
    /// How many connections were opened, and how many of them were lost.
    private(set) var opened = 0, lost = 0

    private var state: State
    private var backoff = Backoff.broker
    private var random: Randomness
    private let outages: OutageDraw.Shared
    private let loop: EventLoop
    private let identity: Identity
    private let mayConnect: () -> Bool
    private let lookUp: (Role, Int) -> Void
    private unowned let delegate: any BrokerLinkDelegate
    /// Addresses that were found and have not been tried yet.
    private var targets: ArraySlice<BrokerTarget> = []
    /// The address that was tried last.
    private var address: SocketAddress?
    /// Why addresses failed when they were tried last, if others were tried instead.
    private var complaints: [SocketAddress: String] = [:]
    private var lookUps = 0
    /// Decides how long each step of an attempt may take.
    private var patience = StepPatience()
    /// Whether a broker did not answer in time in the present attempt.
    private var wasSilent = false
    /// The readiness that the socket is watched for.
    private var interest: Readiness = []
    /// Why the open connection must not be used any more.
    private var doubt: AMQPError?
    private var openedAt: MonotonicTime

    /// Creates a link that connects at its first `tick`.
    ///
    /// - Parameters:
    ///   - role: What it is for.
    ///   - identity: How the worker introduces itself to the broker.
    ///   - loop: Watches its socket.
    ///   - delegate: Is told what happens.
    ///   - now: The time.
    ///   - random: Spreads its attempts.
    ///   - outages: Says whether the worker is late after an outage.
    ///   - mayConnect: False while another link has to open first. If two links were lost together, the second one
    ///     follows the first without a pause of its own. So their worker is ready after one pause.
    ///   - lookUp: Has a helper thread find the brokers; its answer comes back through `found(_:number:now:)`.
    init(
        role: Role, identity: Identity, loop: EventLoop, delegate: any BrokerLinkDelegate, now: MonotonicTime,
        random: Randomness = Randomness(), outages: OutageDraw.Shared = OutageDraw.Shared(),
        mayConnect: @escaping () -> Bool = { true }, lookUp: @escaping (Role, Int) -> Void
    ) {
        self.role = role
        self.identity = identity
        self.loop = loop
        self.delegate = delegate
        self.mayConnect = mayConnect
        self.lookUp = lookUp
        (self.random, self.outages) = (random, outages)
        state = .waiting(until: now)
        openedAt = now
    }

    /// The session that is logged in, while there is one.
    var session: AMQPSession? {
        guard case .connected(let connection) = state, connection.stage == .open else { return nil }
        return connection.session
    }

    /// Whether everything written has gone out and the session has room, so that more is taken at once. Otherwise the
    /// link writes the rest as soon as the socket takes it. That write begins a turn of the lane.
    var isReadyToSend: Bool {
        guard case .connected(let connection) = state, connection.stage == .open else { return false }
        return !connection.hasPendingOutput && connection.session.hasRoom
    }

    // MARK: Turns

    /// Does what is due: begins to connect, gives up a connect that takes too long, sends and expects heartbeats.
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
            failed(BrokerSearch.timeout, now: now)
        case .connected(let connection):
            if let doubt { return failed(doubt, now: now) }
            guard let due = connection.nextDue(now: now), now >= due else { return }
            advance(connection, [], now: now)
        }
    }

    /// When `tick(now:)` has something to do; nil while time alone gives it nothing to do.
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
            // An earlier doubt is the cause.
            return wasOpen ? failed(doubt ?? error, now: now) : attemptFailed(error, now: now)
        }
        guard !wasOpen, connection.stage == .open else { return }
        opened += 1
        openedAt = now
        trouble = nil
        patience.opened()
        wasSilent = false
        if let address { complaints[address] = nil }
        delegate.connectionOpened(role, now: now)
    }

    /// Tells the loop what the connection waits for.
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

    /// The link that this link follows is open, so this link does not wait any longer.
    func connectAtOnce(now: MonotonicTime) {
        if case .waiting = state { state = .waiting(until: now) }
    }

    /// The helper thread is done.
    ///
    /// - Parameters:
    ///   - result: Where the brokers are, in the order in which they are tried.
    ///   - number: The look-up that this answers. The answer to a look-up that was given up is ignored.
    ///   - now: The time.
    func found(_ result: Result<[BrokerTarget], AMQPError>, number: Int, now: MonotonicTime) {
        guard case .lookingUp(number, _) = state else { return }
        switch result {
        case .failure(let error): failed(error, now: now)
        case .success(let found):
            targets = found[...]
            // Drops complaints about addresses that are no longer found.
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
                patience: patience.limit(target.endpoint.connectionTimeout), now: now)
            state = .connected(connection)
            try watch(connection)
        } catch {
            attemptFailed(error, now: now)
        }
    }

    /// An attempt failed before the login. Tries the next address, because another broker may work there. A refusal
    /// ends the attempt, because other addresses would only repeat it.
    private func attemptFailed(_ error: AMQPError, now: MonotonicTime) {
        if error.code == .timeout { wasSilent = true }
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
            // A broker that closes this connection closes all others, too, and all workers come back at once. The
            // publish link draws, once for the whole worker, whether the worker is late. The consume link follows it.
            backoff.lost(
                after: now - openedAt, isCrowd: error.code == .connectionClosed,
                isLate: role == .publish && outages.isLate(now: now, using: &random))
        }
        if wasSilent {
            patience.ranOut()
            backoff.metSilence()
        }
        wasSilent = false
        drop()
        state = .waiting(until: now + backoff.next(using: &random))
        targets = []
        doubt = nil
        trouble = error.message
        delegate.connectionLost(role, error: error, now: now)
    }

    /// Ends a connection that broke a rule. Takes effect with the next `tick(now:)`, because the connection may be in
    /// the middle of a read.
    func distrust(_ why: String) { doubt = AMQPError(.protocolViolation, why) }

    /// Whether the connection is about to be ended. Deliveries and confirms that still arrive on it are ignored.
    var isDistrusted: Bool { doubt != nil }

    /// Closes in an orderly way, and waits for the broker's answer. A broker that answers has read every
    /// acknowledgement sent before.
    ///
    /// - Parameter patience: How long to wait at most.
    func close(within patience: Duration) {
        if case .connected(let connection) = state, connection.stage == .open {
            connection.close(within: patience, delegate: delegate)
        }
        drop()
        state = .closed
    }

    /// Stops watching the socket. The socket is closed with the connection.
    private func drop() {
        if case .connected(let connection) = state, !interest.isEmpty { loop.unwatch(connection.fileDescriptor) }
        interest = []
    }
}
