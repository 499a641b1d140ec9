package import EventLoop
package import PushModel

/// The connections to APNs of one route on one lane. Used on the lane's thread only.
///
/// A pool is made when its route needs connections. It opens the first one in the first turn of the loop, without
/// waiting for requests, and keeps the connections up even without any.
package final class APNSPool {
    /// How long an address is avoided that kept silent or failed again and again.
    private static let silentAddressMemory = Duration.seconds(600)

    /// Whether APNs can be reached. Nil until the first connection is ready or could not be had. False once the
    /// connections are gone and could not be replaced. A planned replacement does not show.
    package internal(set) var isConnected: Bool?

    /// The credential of all connections, except for the one that proves a newer version.
    package internal(set) var credential: APNSCredential
    /// Decides how the credential changes.
    var rotation: CredentialRotationStateMachine
    /// The version that is being proved.
    var candidate: APNSCredential?
    /// The version before the one in use, while the one in use is not proved.
    var fallback: APNSCredential?
    /// Another version that was refused. It is kept because there is no better one.
    package internal(set) var spare: APNSCredential?
    /// How far the proof has come.
    var proof = CredentialProof()

    private let configuration: APNSPoolConfiguration
    /// The `:authority` of its requests.
    private let authority: String
    private let loop: EventLoop
    private(set) weak var delegate: (any APNSPoolDelegate)?
    private let buffers = ConnectionBuffers()
    var machine: APNSPoolStateMachine
    /// Randomness for waits and the moments of token changes.
    var random = SystemRandomNumberGenerator()
    /// All connections: those that take requests, and those that finish theirs.
    private(set) var connections: [APNSConnection] = []
    /// The connection that gets requests until it is full or the turn ends, because requests of one turn share records
    /// and writes.
    private var preferred: APNSConnection?
    var requests: Set<Int> = []
    private var silentAddresses: [SocketAddress: MonotonicTime] = [:]
    private var timer: TimerID?
    private var timerDue = MonotonicTime.distantFuture
    /// Whether the lane knows that nothing can be submitted.
    private var isStarved = true
    /// The `streamLimit` that the lane knows.
    private var toldStreamLimit = 0
    /// Sixteen times the usual length of a payload, as a moving average.
    private var usualBytes = 512 * 16
    /// Bytes of payload submitted so far.
    private var submittedBytes: UInt64 = 0
    /// Whether a payload did not fit since the last flush. A payload of usual length might have fitted.
    private var wasRefused = false
    /// Whether something waited to be submitted at the last flush.
    private(set) var hasBacklog = false
    /// How much of the capacity was not for what waited then.
    private var kept = 0
    private var opened = 0
    private var lost = 0
    private var goAways = 0
    private var timeouts = 0
    /// Why the last connection could not be made or was lost; nil once one works again.
    var lastError: APNSClientError?

    /// A pool that opens its first connection in the loop's next turn.
    ///
    /// - Parameters:
    ///   - configuration: How it behaves.
    ///   - loop: The lane's loop.
    ///   - endpoint: Where its connections go, for the requests' `:authority`.
    ///   - credential: Who we are.
    ///   - delegate: Whom to tell; not retained.
    package init(
        configuration: APNSPoolConfiguration, loop: EventLoop, endpoint: APNSEndpoint, credential: APNSCredential,
        delegate: any APNSPoolDelegate
    ) {
        self.configuration = configuration
        self.loop = loop
        self.credential = credential
        rotation = CredentialRotationStateMachine(version: credential.version)
        self.delegate = delegate
        authority = endpoint.authority
        machine = APNSPoolStateMachine(
            configuration.connections,
            timing: APNSPoolStateMachine.Timing(
                openInterval: configuration.openInterval, growthDelay: configuration.growthDelay,
                quietDelay: configuration.quietDelay))
        arm(at: .now())
    }

    deinit {
        if let timer { loop.cancel(timer) }
        // The loop keeps what it watches. Without this, events would reach connections without a pool.
        for connection in connections { connection.abandon() }
    }

    // MARK: Requests

    /// How many more requests of the usual length streams and windows allow now.
    package var capacity: Int {
        let usual = usualBytes / 16
        return connections.reduce(0) { $0 + $1.capacity(usualBytes: usual) }
    }

    /// How many requests of the usual length its connections take at once, if none is open.
    package var concurrency: Int {
        let usual = usualBytes / 16
        return connections.reduce(0) {
            $1.machine.isAdmitting && $1.machine.streamLimit > 0 ? $0 + $1.concurrency(usualBytes: usual) : $0
        }
    }

    /// Requests that may be open at once, for credit.
    package var streamLimit: Int { connections.reduce(0) { $0 + $1.machine.streamLimit } }

    /// Requests without an answer yet.
    package var openStreams: Int { connections.reduce(0) { $0 + $1.machine.openStreams } }

    /// Submits one notification of a job. It leaves with the next `flush(now:)`.
    ///
    /// - Parameters:
    ///   - job: The job. Its buffer is kept until the answer.
    ///   - index: Which of its notifications.
    ///   - tag: Names the request in its answer.
    ///   - now: The time.
    /// - Returns: False if no connection can take it now. There will be no answer then.
    package func submit(_ job: borrowing Job, index: Int, tag: Int, now: MonotonicTime) -> Bool {
        let bytes = job.payload.count
        usualBytes += bytes - usualBytes / 16
        while let connection = connection(for: bytes) {
            if connection.needsToken(now: now) { changeToken(of: connection, now: now) }
            if let due = connection.submit(job, index: index, tag: tag, now: now) {
                if due < timerDue { arm(at: due) }
                submittedBytes &+= UInt64(bytes)
                return true
            }
            // HTTP/2 takes no more on this connection. Its state machine knows that now.
            preferred = nil
        }
        isStarved = true
        wasRefused = true
        return false
    }

    private func connection(for bytes: Int) -> APNSConnection? {
        // A new credential proves itself with the first notification that comes.
        if let proving = proof.connection, proving.admits(bytes: bytes) { return proving }
        if let preferred, preferred.admits(bytes: bytes) { return preferred }
        preferred = nil
        for candidate in connections where candidate.admits(bytes: bytes) {
            if candidate.machine.freeStreams > preferred?.machine.freeStreams ?? 0 { preferred = candidate }
        }
        return preferred
    }

    /// Sends everything that was submitted, at the end of the lane's turn.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - hasBacklog: Whether something waits that would have been submitted if there had been room.
    ///   - kept: How much of the capacity is not for what waits.
    package func flush(now: MonotonicTime, hasBacklog: Bool = true, keeping kept: Int = 0) {
        preferred = nil
        self.kept = kept
        // By position, because a connection that breaks while it is flushed leaves the array.
        var index = 0
        while index < connections.count {
            let connection = connections[index]
            connection.flush(now: now)
            if index < connections.count, connections[index] === connection { index += 1 }
        }
        if capacity <= kept { isStarved = true }
        self.hasBacklog = hasBacklog
        endTurn(now: now)
        wasRefused = false
        advance(now: now)
        if hasBacklog, !requests.isEmpty { delegate?.poolWaits(self) }
    }

    /// Lets the size of the pool follow its load.
    private func endTurn(now: MonotonicTime) {
        machine.turned(load, now: now)
        while machine.surplus > 0, let surplus = leastNeeded {
            surplus.retire()
            uncount(surplus, now: now)
            // One without requests closes here.
            surplus.tick(now: now)
        }
    }

    /// The connection with the fewest requests, and of several the youngest.
    private var leastNeeded: APNSConnection? {
        connections.filter { $0.isCounted && $0.machine.isAdmitting }.min { one, other in
            let (left, right) = (one.machine.openStreams, other.machine.openStreams)
            return left == right ? one.openedAt > other.openedAt : left < right
        }
    }

    /// How busy the connections are.
    private var load: APNSPoolLoad {
        let usual = usualBytes / 16
        var load = APNSPoolLoad(limit: .server, hasBacklog: hasBacklog, submittedBytes: submittedBytes)
        var admitting = 0
        var concurrency = 0
        var ceiling: Double? = 0
        for connection in connections {
            load.inFlight += connection.machine.openStreams
            guard let limit = connection.limit(usualBytes: usual) else { continue }
            load.limit = admitting == 0 ? limit : .loosest(load.limit, limit)
            admitting += 1
            concurrency += connection.concurrency(usualBytes: usual)
            load.roundTrip = max(load.roundTrip, connection.roundTrip ?? .zero)
            ceiling = connection.roundTrip.flatMap { trip in
                ceiling.map { $0 + Double(connection.windowSize) / Double(trip.clampedNanoseconds) }
            }
        }
        if wasRefused, load.limit == .nothing { load.limit = .window }
        if kept > 0, load.limit == .nothing, capacity <= kept {
            load.limit = streamLimit - openStreams <= kept ? .streams : .window
        }
        load.perConnection = max(1, concurrency / max(1, admitting))
        load.ceiling = ceiling
        return load
    }

    // MARK: Connections

    /// Takes over a connection that was asked for.
    ///
    /// - Parameters:
    ///   - connection: The connection. It is closed if the pool does not want it any more.
    ///   - request: The request for the connection.
    ///   - now: The time.
    package func adopt(_ connection: EstablishedConnection, for request: ConnectRequest, now: MonotonicTime) {
        guard requests.contains(request.id), !machine.isStopped else { return }
        let isProof = request.id == proof.request
        guard isProof || isWanted(request) else { return abandon(request, now: now) }
        do throws(APNSClientError) {
            let identity = request.credential ?? credential
            let token = try identity.tokens?.current(wallSeconds: Self.wallSeconds)
            let adopted = try APNSConnection(
                connection, authority: authority, settings: configuration, credential: identity, token: token,
                isProof: isProof || fallback != nil, loop: loop, buffers: buffers, owner: self, now: now)
            if let token { adopted.use(token, until: MonotonicTime(nanoseconds: 0)) }
            requests.remove(request.id)
            if isProof {
                adopted.isCounted = false
                proof = CredentialProof(connection: adopted)
            } else {
                machine.connected()
            }
            opened += 1
            connections.append(adopted)
            adopted.flush(now: now)
            advance(now: now)
        } catch {
            connectFailed(error, for: request, now: now)
        }
    }

    /// Notes that a requested connection could not be made. Another is asked for after a while.
    ///
    /// - Parameters:
    ///   - error: Why.
    ///   - request: The request for the connection.
    ///   - now: The time.
    package func connectFailed(_ error: APNSClientError, for request: ConnectRequest, now: MonotonicTime) {
        let isProof = request.id == proof.request
        guard isProof || !requests.contains(request.id) || isWanted(request) else { return abandon(request, now: now) }
        guard requests.remove(request.id) != nil else { return }
        lastError = error
        if isProof {
            proofLost(now: now)
        } else {
            machine.connectFailed(now: now, random: &random)
        }
        if error.code == .credentialRefused {
            refusedConnection(of: request.credential ?? credential, error, now: now)
        }
        advance(now: now)
    }

    /// Whether a connection that was asked for is still awaited.
    ///
    /// - Parameter request: The request for the connection.
    /// - Returns: False once it was adopted, failed or given up.
    package func awaits(_ request: ConnectRequest) -> Bool { requests.contains(request.id) }

    /// Whether a connection that is being opened still has the right credential.
    private func isWanted(_ request: ConnectRequest) -> Bool {
        !machine.isSuspended && (request.credential == nil || request.credential === credential)
    }

    private func abandon(_ request: ConnectRequest, now: MonotonicTime) {
        requests.remove(request.id)
        machine.connectAbandoned()
        advance(now: now)
    }

    /// Opens new connections with the newest provider token, and closes the present ones after that.
    ///
    /// - Parameter now: The time.
    package func refreshCredential(now: MonotonicTime) {
        for connection in connections { connection.requestReplacement() }
        advance(now: now)
    }

    /// Takes no more requests, lets the open ones finish, and closes each connection after its last.
    ///
    /// - Parameter now: The time.
    package func drain(now: MonotonicTime) {
        machine.stop()
        for connection in connections {
            connection.retire()
            connection.tick(now: now)
        }
        advance(now: now)
    }

    /// Closes everything now. Open requests are answered before this returns.
    package func close() {
        machine.stop()
        let now = MonotonicTime.now()
        for connection in connections { connection.end(nil, now: now) }
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// What the pool looks like now.
    package var status: APNSPoolStatus {
        var status = APNSPoolStatus(
            isConnected: isConnected, connecting: machine.connecting, wanted: machine.wanted, openStreams: openStreams,
            streamLimit: streamLimit, failures: machine.failures, opened: opened, lost: lost, goAways: goAways,
            timeouts: timeouts, lastError: lastError)
        for connection in connections {
            switch connection.machine.phase {
            case .settling: status.settling += 1
            case .proving: status.proving += 1
            case .open: status.open += 1
            case .draining, .closed: status.draining += 1
            }
            status.addresses.append(connection.address)
            if let skew = connection.clockSkew { status.clockSkew = skew }
            status.roundTrip = max(status.roundTrip, connection.roundTrip ?? .zero)
        }
        status.limit = limit
        return status
    }

    /// The pool's limit at the end of the last turn: none if any connection has room, else server, then window, then
    /// streams. A full window counts as the server's if the server reads too slowly.
    package var limit: APNSPoolLimit { machine.limit }

    // MARK: Time

    /// Does what is due: looks at the states of its connections, asks for connections, and sets the timer.
    func advance(now: MonotonicTime) {
        tryProof(now: now)
        for connection in connections { review(connection, now: now) }
        while machine.wantsConnect(now: now) { askForConnection(now: now) }
        updateConnectivity()
        let streamLimit = streamLimit
        if streamLimit != toldStreamLimit || (isStarved && capacity > kept) {
            toldStreamLimit = streamLimit
            if capacity > kept { isStarved = false }
            delegate?.poolCapacityChanged(self)
        }
        var due = min(machine.nextDue ?? .distantFuture, machine.surplusDue ?? .distantFuture)
        if let proofDue = advanceProof(now: now) { due = min(due, proofDue) }
        for connection in connections { due = min(due, connection.nextDue) }
        if due < timerDue { arm(at: due) }
    }

    /// Updates the pool's state from a connection's.
    private func review(_ connection: APNSConnection, now: MonotonicTime) {
        let state = connection.machine
        if state.hasAnswered, !connection.isProved {
            connection.isProved = true
            machine.proved()
            lastError = nil
        }
        if connection.isCounted, state.wantsReplacement || !state.isAdmitting { uncount(connection, now: now) }
        if connection.isUsable, connection.isCounted, connections.contains(where: { $0.machine.wantsReplacement }) {
            for other in connections { other.replacementOpened() }
        }
    }

    private func uncount(_ connection: APNSConnection, now: MonotonicTime) {
        connection.isCounted = false
        avoidIfSuspect(connection, now: now)
        if let reason = connection.reasonOfEnd { lastError = reason }
        machine.lost(
            wasUseful: connection.machine.hasAnswered, age: now - connection.openedAt, now: now,
            random: &random)
    }

    private func avoidIfSuspect(_ connection: APNSConnection, now: MonotonicTime) {
        guard connection.isSuspect else { return }
        silentAddresses[connection.address] = now + Self.silentAddressMemory
    }

    private func askForConnection(now: MonotonicTime) { _ = ask(with: credential, now: now) }

    /// Asks for a connection.
    ///
    /// - Returns: The request's number.
    func ask(with credential: APNSCredential, now: MonotonicTime) -> Int {
        silentAddresses = silentAddresses.filter { $0.value > now }
        let number = ConnectRequest.nextNumber()
        requests.insert(number)
        let avoided = Set(connections.map(\.address)).union(silentAddresses.keys)
        delegate?.poolNeedsConnection(
            self,
            request: ConnectRequest(
                id: number, avoiding: avoided, timeout: configuration.connectTimeout, credential: credential))
        return number
    }

    private func updateConnectivity() {
        let before = isConnected
        // A server that allows no stream counts as unreachable.
        if connections.contains(where: { $0.isUsable && $0.machine.streamLimit > 0 }) {
            isConnected = true
        } else if machine.failures > 0 || machine.isStopped || connections.contains(where: \.isUsable) {
            isConnected = false
        }
        if isConnected != before { delegate?.poolCapacityChanged(self) }
    }

    private func arm(at due: MonotonicTime) {
        if let timer { loop.cancel(timer) }
        timerDue = due
        timer = loop.schedule(at: due) { [weak self] now in self?.timerFired(now: now) }
    }

    private func timerFired(now: MonotonicTime) {
        timer = nil
        timerDue = .distantFuture
        for connection in connections { connection.tick(now: now) }
        if let due = machine.surplusDue, due <= now { endTurn(now: now) }
        advance(now: now)
    }
}

extension APNSPool: APNSConnectionOwner {
    func connection(
        _ connection: APNSConnection, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime
    ) {
        switch answer {
        case .response(let response):
            if response.answer.meaning.credential == .tokenExpired { replaceToken(of: connection) }
            guard judge(response, on: connection, now: now) else { break }
            delegate?.pool(self, tag: tag, answered: .unprocessed, now: now)
            return
        case .unanswered(.deadline): timeouts += 1
        default: break
        }
        delegate?.pool(self, tag: tag, answered: answer, now: now)
    }

    func connectionProgressed(_ connection: APNSConnection, now: MonotonicTime) { advance(now: now) }

    func connectionEnded(_ connection: APNSConnection, _ error: APNSClientError?, now: MonotonicTime) {
        // A draining connection may turn out to be silent, too.
        avoidIfSuspect(connection, now: now)
        if connection.isCounted { uncount(connection, now: now) }
        if connection.isSentAway { goAways += 1 }
        if let error {
            lost += 1
            lastError = error
        }
        if preferred === connection { preferred = nil }
        connections.removeAll { $0 === connection }
        if proof.connection === connection { proofLost(now: now) }
        if let error, error.code == .credentialRefused {
            refusedConnection(of: connection.credential, error, now: now)
        }
        if !machine.isStopped { advance(now: now) }
    }
}
