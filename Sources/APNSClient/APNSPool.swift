package import EventLoop
package import PushModel

/// The connections to APNs of one route on one lane. Used on the lane's thread only.
///
/// A pool is made when its route needs connections. It opens the first connection in the next turn of the loop, without
/// waiting for requests. It keeps its connections open even if there are no requests.
package final class APNSPool {
    /// Whether APNs can be reached.
    ///
    /// - Nil until the first connection is ready or could not be opened.
    /// - True once a connection is ready and APNs allows a stream on it.
    /// - False if APNs allows no stream, and once the connections are gone and a new one could not be opened.
    ///
    /// A planned replacement of a connection changes nothing here.
    package internal(set) var isConnected: Bool?

    private let configuration: APNSPoolConfiguration
    /// The `:authority` of its requests.
    private let authority: String
    private let loop: EventLoop
    private(set) weak var delegate: (any APNSPoolDelegate)?
    private let buffers = APNSConnection.Buffers()
    /// Decides how many connections there are.
    var machine: APNSPoolStateMachine
    /// Which version of the credential the connections use, and how far a newer one has proved itself.
    var rotation: CredentialRotation
    /// Decides whether a refusal of the credential is believed.
    var doubt = CredentialDoubt()
    /// Randomness for waits and the moments of token changes.
    private var random: Randomness
    /// All connections: those that take requests, and those that finish their last requests.
    private(set) var connections = PooledConnections()
    /// The requests that the lane wants to submit, in numbers.
    private(set) var demand = PoolDemand()
    /// The numbers of the requests for connections that the pool still awaits.
    var requests: Set<Int> = []
    private var silentAddresses = SilentAddresses()
    private var timer: TimerID?
    private var timerDue = MonotonicTime.distantFuture
    /// Whether the lane knows that nothing can be submitted.
    private var isStarved = true
    /// The `streamLimit` that the lane knows.
    private var toldStreamLimit = 0
    private var opened = 0
    private var lost = 0
    private var goAways = 0
    private var timeouts = 0
    /// Why the last connection could not be made or was lost; nil once a new connection has answered. Also why no token
    /// could be signed.
    private var lastError: APNSClientError?

    /// A pool that opens its first connection in the loop's next turn.
    ///
    /// - Parameters:
    ///   - configuration: How the pool behaves.
    ///   - loop: The lane's loop.
    ///   - endpoint: Where the connections go, for the requests' `:authority`.
    ///   - credential: The version of the credential to begin with.
    ///   - delegate: The receiver of the pool's events; not retained.
    ///   - random: Randomness for waits and the moments of token changes.
    package init(
        configuration: APNSPoolConfiguration, loop: EventLoop, endpoint: APNSEndpoint, credential: APNSCredential,
        delegate: any APNSPoolDelegate, random: Randomness = Randomness()
    ) {
        self.configuration = configuration
        self.loop = loop
        self.random = random
        rotation = CredentialRotation(credential)
        self.delegate = delegate
        authority = endpoint.authority
        machine = APNSPoolStateMachine(
            configuration.connections,
            timing: APNSPoolStateMachine.Timing(
                openInterval: configuration.openInterval, growthDelay: configuration.growthDelay,
                quietDelay: configuration.quietDelay))
        arm(at: loop.time.monotonic)
    }

    deinit {
        if let timer { loop.cancel(timer) }
        // The loop keeps what it watches. Without this, events would reach connections without a pool.
        for connection in connections.all { connection.abandon() }
    }

    // MARK: Requests

    /// How many more requests of the usual length may be submitted now, as streams and windows allow.
    package var capacity: Int { connections.capacity(usualBytes: demand.usualBytes) }

    /// How many requests of the usual length the connections take at once, if no request is open.
    package var concurrency: Int { connections.concurrency(usualBytes: demand.usualBytes) }

    /// Requests that may be open at once, for credit.
    package var streamLimit: Int { connections.streamLimit }

    /// Requests without an answer yet.
    package var openStreams: Int { connections.openStreams }

    /// Submits one notification of a job. It leaves with the next `flush(now:)`.
    ///
    /// - Parameters:
    ///   - job: The job. Its buffer is kept until the answer.
    ///   - index: The position of the notification in the job.
    ///   - tag: Names the request in its answer.
    ///   - now: The time.
    /// - Returns: False if no connection can take it now. There will be no answer then.
    package func submit(_ job: borrowing Job, index: Int, tag: Int, now: MonotonicTime) -> Bool {
        let bytes = job.payload.count
        demand.asked(bytes: bytes)
        while let connection = connections.next(bytes: bytes, proving: rotation.proof.connection) {
            if connection.token.isDue(now: now) { changeToken(of: connection, now: now) }
            if let due = connection.submit(job, index: index, tag: tag, now: now) {
                if due < timerDue { arm(at: due) }
                demand.submitted(bytes: bytes)
                return true
            }
            // HTTP/2 takes no more on this connection. Its state machine knows that now.
            connections.chooseAfresh()
        }
        isStarved = true
        demand.refused()
        return false
    }

    /// Sends everything that was submitted, at the end of the lane's turn.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - hasBacklog: Whether a notification waits that would have been submitted if there had been room.
    ///   - kept: How many requests of the capacity the waiting notifications may not use.
    package func flush(now: MonotonicTime, hasBacklog: Bool = true, keeping kept: Int = 0) {
        connections.chooseAfresh()
        demand.kept = kept
        // By position, because a connection that breaks while it is flushed leaves the array.
        var index = 0
        while index < connections.all.count {
            let connection = connections.all[index]
            connection.flush(now: now)
            if index < connections.all.count, connections.all[index] === connection { index += 1 }
        }
        if capacity <= kept { isStarved = true }
        demand.hasBacklog = hasBacklog
        endTurn(now: now)
        demand.turnEnded()
        advance(now: now)
        if hasBacklog, !requests.isEmpty { delegate?.poolWaits(self) }
    }

    /// Lets the size of the pool follow its load.
    private func endTurn(now: MonotonicTime) {
        machine.turned(demand.load(on: connections), now: now)
        closeSurplus(now: now)
    }

    private func closeSurplus(now: MonotonicTime) {
        while machine.surplus > 0, let surplus = connections.leastNeeded {
            surplus.retire()
            uncount(surplus, isSurplus: true, now: now)
            // A surplus connection without requests closes here.
            surplus.tick(now: now)
        }
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
        let isProof = request.id == rotation.proof.request
        guard isProof || isWanted(request) else { return abandon(request, now: now) }
        do throws(APNSClientError) {
            let identity = request.credential ?? credential
            let token = try ConnectionToken(of: identity, wallSeconds: wallSeconds)
            let adopted = try APNSConnection(
                connection, authority: authority, settings: configuration, credential: identity, token: token,
                isProof: isProof || rotation.isTrying || doubt.isOpen(now: now), loop: loop, buffers: buffers,
                owner: self, now: now)
            requests.remove(request.id)
            if isProof {
                adopted.standing = .apart
                rotation.opened(adopted)
            } else {
                machine.connected()
            }
            opened += 1
            connections.add(adopted)
            adopted.flush(now: now)
            advance(now: now)
        } catch {
            connectFailed(error, for: request, now: now)
        }
    }

    /// Notes that a requested connection could not be made. The pool asks for another one after a while.
    ///
    /// - Parameters:
    ///   - error: Why the connection could not be made.
    ///   - request: The request for the connection.
    ///   - now: The time.
    package func connectFailed(_ error: APNSClientError, for request: ConnectRequest, now: MonotonicTime) {
        let isProof = request.id == rotation.proof.request
        guard isProof || !requests.contains(request.id) || isWanted(request) else { return abandon(request, now: now) }
        guard requests.remove(request.id) != nil else { return }
        lastError = error
        if isProof {
            rotation.proofLost(now: now)
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

    /// Whether a connection that is being opened is still missing and has the right credential.
    private func isWanted(_ request: ConnectRequest) -> Bool {
        !machine.isSuspended && machine.isAwaiting && (request.credential == nil || request.credential === credential)
    }

    private func abandon(_ request: ConnectRequest, now: MonotonicTime) {
        requests.remove(request.id)
        machine.connectAbandoned()
        advance(now: now)
    }

    /// Opens new connections with the newest provider token, and closes the present connections after that.
    ///
    /// - Parameter now: The time.
    package func refreshCredential(now: MonotonicTime) {
        for connection in connections.all { connection.requestReplacement() }
        advance(now: now)
    }

    /// Takes no more requests, lets the open requests finish, and closes each connection after its last request.
    ///
    /// - Parameter now: The time.
    package func drain(now: MonotonicTime) {
        machine.stop()
        for connection in connections.all {
            connection.retire()
            connection.tick(now: now)
        }
        advance(now: now)
    }

    /// Closes everything now. Open requests are answered before this returns.
    package func close() {
        machine.stop()
        let now = loop.time.monotonic
        for connection in connections.all { connection.end(nil, now: now) }
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// What the pool looks like now.
    package var status: APNSPoolStatus {
        var status = APNSPoolStatus(
            isConnected: isConnected, connecting: machine.connecting, wanted: machine.wanted, openStreams: openStreams,
            streamLimit: streamLimit, failures: machine.failures, opened: opened, lost: lost, goAways: goAways,
            timeouts: timeouts, lastError: lastError)
        for connection in connections.all {
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
    /// streams. A full window counts as the limit of the server if the server reads too slowly.
    package var limit: APNSPoolLimit { machine.limit }

    // MARK: Provider tokens

    /// The time of day in seconds since 1970, by which tokens are dated.
    private var wallSeconds: Int64 { loop.time.wall / 1_000 }

    /// Gives a connection the newest token with its first request, and again once its token is old enough.
    private func changeToken(of connection: APNSConnection, now: MonotonicTime) {
        do throws(APNSClientError) {
            try connection.token.change(now: now, wallSeconds: wallSeconds, random: &random)
        } catch {
            lastError = error
        }
    }

    /// Closes the connections with a provider token that APNs called expired, if there is a newer token.
    private func replaceToken(of connection: APNSConnection) {
        guard let expired = connection.token.replaceExpired(wallSeconds: wallSeconds) else { return }
        for other in connections.all where other.credential === connection.credential {
            if let token = other.token.held, token.generation <= expired { other.retire() }
        }
    }

    // MARK: Time

    /// Does what is due: reviews the connections, asks for new ones, tells the lane what changed, and sets the timer.
    func advance(now: MonotonicTime) {
        tryProof(now: now)
        for connection in connections.all { review(connection, now: now) }
        closeSurplus(now: now)
        while machine.wantsConnect(now: now) { askForConnection(now: now) }
        updateConnectivity()
        let streamLimit = streamLimit
        if streamLimit != toldStreamLimit || (isStarved && capacity > demand.kept) {
            toldStreamLimit = streamLimit
            if capacity > demand.kept { isStarved = false }
            delegate?.poolCapacityChanged(self)
        }
        var due = min(machine.nextDue ?? .distantFuture, machine.surplusDue ?? .distantFuture)
        if let proofDue = retryProof(now: now) { due = min(due, proofDue) }
        for connection in connections.all { due = min(due, connection.nextDue) }
        if due < timerDue { arm(at: due) }
    }

    /// Updates the state of the pool from the state of a connection.
    private func review(_ connection: APNSConnection, now: MonotonicTime) {
        let state = connection.machine
        if state.hasAnswered, !connection.isProved {
            connection.isProved = true
            machine.proved()
            lastError = nil
        }
        count(connection, now: now)
        if connection.isUsable, connection.standing == .counted,
            connections.all.contains(where: { $0.machine.wantsReplacement })
        {
            for other in connections.all { other.replacementOpened() }
        }
    }

    /// Counts a connection as what it is now.
    private func count(_ connection: APNSConnection, now: MonotonicTime) {
        let isLeaving = connection.machine.wantsReplacement || !connection.machine.isAdmitting
        switch connection.standing {
        case .counted where isLeaving: uncount(connection, now: now)
        case .counted where connection.machine.isSilent:
            connection.standing = .silent
            machine.fellSilent()
            lastError = APNSClientError(.timedOut, "\(connection.address) gives no sign")
        case .silent where isLeaving: forgetSilent(connection)
        case .silent where !connection.machine.isSilent:
            connection.standing = .counted
            machine.cameBack()
        case .counted, .silent, .apart: break
        }
    }

    private func forgetSilent(_ connection: APNSConnection) {
        connection.standing = .apart
        machine.silentEnded()
    }

    private func uncount(_ connection: APNSConnection, isSurplus: Bool = false, now: MonotonicTime) {
        connection.standing = .apart
        avoidIfSuspect(connection, now: now)
        if let reason = connection.reasonOfEnd { lastError = reason }
        machine.lost(
            wasUseful: isSurplus || connection.machine.hasAnswered, age: now - connection.openedAt, now: now,
            random: &random)
    }

    private func avoidIfSuspect(_ connection: APNSConnection, now: MonotonicTime) {
        guard connection.isSuspect else { return }
        silentAddresses.note(connection.address, now: now)
    }

    private func askForConnection(now: MonotonicTime) { _ = ask(with: credential, now: now) }

    /// Asks for a connection.
    ///
    /// - Returns: The request's number.
    func ask(with credential: APNSCredential, now: MonotonicTime) -> Int {
        let number = ConnectRequest.nextNumber()
        requests.insert(number)
        let avoided = Set(connections.all.map(\.address)).union(silentAddresses.current(now: now))
        delegate?.poolNeedsConnection(
            self,
            request: ConnectRequest(
                id: number, avoiding: avoided, timeout: configuration.connectTimeout, credential: credential))
        return number
    }

    private func updateConnectivity() {
        let before = isConnected
        // A server that allows no stream counts as unreachable.
        if connections.all.contains(where: { $0.isUsable && $0.machine.streamLimit > 0 }) {
            isConnected = true
        } else if machine.failures > 0 || machine.isStopped
            || connections.all.contains(where: { $0.isUsable && !$0.machine.isSilent })
        {
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
        for connection in connections.all { connection.tick(now: now) }
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
        case .unanswered(.deadline, _): timeouts += 1
        default: break
        }
        delegate?.pool(self, tag: tag, answered: answer, now: now)
    }

    func connectionProgressed(_ connection: APNSConnection, now: MonotonicTime) { advance(now: now) }

    func connectionEnded(_ connection: APNSConnection, _ error: APNSClientError?, now: MonotonicTime) {
        // A draining connection may turn out to be silent, too.
        avoidIfSuspect(connection, now: now)
        switch connection.standing {
        case .counted: uncount(connection, now: now)
        case .silent: forgetSilent(connection)
        case .apart: break
        }
        if connection.isSentAway { goAways += 1 }
        if let error {
            lost += 1
            lastError = error
        }
        connections.remove(connection)
        if rotation.proof.connection === connection { rotation.proofLost(now: now) }
        if let error, error.code == .credentialRefused {
            refused(connection, error, now: now)
        }
        if !machine.isStopped { advance(now: now) }
    }
}
