package import EventLoop
package import PushModel

// How a pool changes its credential. `CredentialRotationStateMachine` decides what to do, and this extension does it.
extension APNSPool {
    /// The wait after a new version could not be tried.
    static let proofRetry = Duration.seconds(30)
    /// The wait after APNs said that the provider token changes too often: Apple's limit.
    static let tokenUpdateRetry = Duration.seconds(20 * 60)

    /// Offers a version of the credential that was just read. Versions older than the present one are ignored.
    ///
    /// The version proves itself on a connection of its own. The first answer that does not refuse it lets all other
    /// connections follow. A refusal changes nothing and costs no notification. If there is nothing to send, the
    /// version is used once its connection works, and the first answer decides whether it stays.
    ///
    /// - Parameters:
    ///   - credential: The version.
    ///   - now: The time.
    package func offer(_ credential: APNSCredential, now: MonotonicTime) {
        let actions = rotation.offered(credential.version)
        guard !actions.isEmpty else { return }
        candidate = credential
        perform(actions, now: now)
        advance(now: now)
    }

    /// The version that no answer has proved yet; nil without one.
    package var provingVersion: Int? { rotation.candidate ?? (rotation.fallback == nil ? nil : rotation.current) }

    /// Whether connections use a later version than this one.
    ///
    /// - Parameter version: The number of a version.
    /// - Returns: Whether a later one is in use.
    package func isReplaced(_ version: Int) -> Bool { version < credential.version }

    /// Closes all connections of the credential, because its time is over. Each finishes its requests first.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - seconds: The time in seconds since 1970, by which certificates are judged.
    package func expire(now: MonotonicTime, seconds: Int64) {
        let other = rotation.spare
        let actions = rotation.expired(isSpareTimely: spare?.validity?.contains(seconds) ?? true)
        guard !actions.isEmpty else { return }
        perform(actions, now: now)
        if rotation.current == other { delegate?.pool(self, credential: .retried(version: rotation.current)) }
        advance(now: now)
    }

    /// Takes over another pool's spare version: one that was refused, and is asked for again in the end. The pools
    /// belong to one route.
    ///
    /// - Parameter version: The version; nil for none.
    package func keepSpare(_ version: APNSCredential?) {
        spare = version
        rotation.keep(spare: version?.version)
    }

    /// Opens connections again after the credential was refused or its time was over. Otherwise nothing happens.
    ///
    /// - Parameter now: The time.
    package func retryCredential(now: MonotonicTime) {
        guard rotation.isRefused else { return }
        let before = rotation.current
        perform(rotation.retry(), now: now)
        machine.isSuspended = false
        if rotation.current != before { delegate?.pool(self, credential: .retried(version: rotation.current)) }
        advance(now: now)
    }

    /// Learns what an answer says about the credential.
    ///
    /// - Returns: Whether the answer says nothing about the notification, so that it may be sent again at once.
    func judge(_ response: APNSResponse, on connection: APNSConnection, now: MonotonicTime) -> Bool {
        let isTried = fallback != nil && connection.credential === credential
        let isCandidate = isTried || connection.credential === candidate
        let verdict = response.answer.meaning.credential
        // Nearly every answer ends here.
        if verdict == .accepted, !isCandidate { return false }
        if verdict.isRefusal || isCandidate {
            let reason = response.reason?.rawValue ?? "status \(response.status)"
            apply(verdict, to: connection.credential, reason: reason, now)
        }
        // A refusal of a version that is still being tried, or was replaced, says nothing about the version in use.
        guard isCandidate || connection.credential !== credential, verdict.turnsAway else { return false }
        perform(rotation.doubted(connection.credential.version), now: now)
        if rotation.candidate == connection.credential.version {
            let wait = verdict == .tokenChangedTooOften ? Self.tokenUpdateRetry : Self.proofRetry
            proof.retryAt = now + wait
        }
        // The notification is sent again at once, and must not go to the same connection.
        if connection.machine.isAdmitting { connection.retire() }
        return true
    }

    /// Learns what another pool of the same route heard about a version. The delegate is not told.
    ///
    /// - Parameters:
    ///   - verdict: What APNs said.
    ///   - version: The version that it said it about.
    ///   - now: The time.
    /// - Returns: Whether that changes anything here.
    package func learn(_ verdict: CredentialVerdict, of version: Int, now: MonotonicTime) -> Bool {
        let before = rotation.state
        perform(rotation.judged(version, verdict), now: now)
        guard rotation.state != before else { return false }
        advance(now: now)
        return true
    }

    /// APNs refused the credential below HTTP: with a TLS alert, or with GOAWAY.
    func refusedConnection(of credential: APNSCredential, _ error: APNSClientError, now: MonotonicTime) {
        apply(.refused(error.refusalScope), to: credential, reason: error.message, now)
    }

    private func apply(
        _ verdict: CredentialVerdict, to judged: APNSCredential, reason: String, _ now: MonotonicTime
    ) {
        let before = rotation.state
        perform(rotation.judged(judged.version, verdict), now: now)
        guard rotation.state != before else { return }
        switch (verdict, before) {
        case (.accepted, _): delegate?.pool(self, credential: .switched(version: judged.version))
        case (_, .proving(_, let new)) where new == judged.version,
            (_, .trying(_, let new)) where new == judged.version:
            delegate?.pool(self, credential: .candidateRefused(version: judged.version, reason: reason))
        case (.refused(let scope), _):
            delegate?.pool(self, credential: .refused(version: judged.version, reason: reason, concerns: scope))
        default: break
        }
    }

    private func perform(_ actions: [CredentialRotationStateMachine.Action], now: MonotonicTime) {
        let known = [credential, candidate, fallback, spare].compactMap(\.self)
        for action in actions {
            switch action {
            case .openProof: askForProof(now: now)
            case .dropProof:
                proof.connection?.retire()
                if let request = proof.request { requests.remove(request) }
                proof = CredentialProof()
            case .switchTo(let version):
                if let next = known.first(where: { $0.version == version }) { use(next) }
            case .closeAll(let version):
                for connection in connections where connection.credential.version == version { connection.retire() }
                machine.isSuspended = rotation.isRefused
            }
        }
        candidate = known.first { $0.version == rotation.candidate }
        fallback = known.first { $0.version == rotation.fallback }
        spare = known.first { $0.version == rotation.spare }
    }

    private func use(_ next: APNSCredential) {
        credential = next
        machine.isSuspended = false
        if let proven = proof.connection, proven.credential === next, proven.machine.isAdmitting {
            proven.isCounted = true
            machine.joined()
        }
        // A proof that is still being opened is not waited for. The pool opens its connections itself.
        if let request = proof.request { requests.remove(request) }
        proof = CredentialProof()
        for connection in connections where connection.credential !== credential { connection.retire() }
    }

    private func askForProof(now: MonotonicTime) {
        guard let candidate, !machine.isStopped else { return }
        proof = CredentialProof(request: ask(with: candidate, now: now))
    }

    /// Uses a version that has no push to prove it as soon as the server has answered a PING on its connection. Until
    /// then TLS may still refuse a certificate, because it may do so after the handshake (RFC 8446, section 4.4.2.4).
    func tryProof(now: MonotonicTime) {
        guard let connection = proof.connection, connection.roundTrip != nil, connection.machine.isAdmitting,
            !hasBacklog, openStreams == 0
        else { return }
        let version = connection.credential.version
        perform(rotation.reached(version), now: now)
        delegate?.pool(self, credential: .tried(version: version))
    }

    /// The connection for the proof could not be had, or was lost.
    func proofLost(now: MonotonicTime) {
        guard let candidate else { return }
        rotation.proofLost(candidate.version)
        let retryAt = now + Self.proofRetry
        proof = CredentialProof(retryAt: max(proof.retryAt ?? retryAt, retryAt))
    }

    /// Tries the proof again when its time has come.
    ///
    /// - Returns: When that is; nil for never.
    func advanceProof(now: MonotonicTime) -> MonotonicTime? {
        guard rotation.lacksProof, let due = proof.retryAt else { return nil }
        guard now >= due else { return due }
        perform(rotation.retryProof(), now: now)
        return nil
    }

    /// Closes the connections with a provider token that APNs called expired on another connection.
    func retireTokens(of credential: APNSCredential, upTo generation: Int) {
        for connection in connections where connection.credential === credential {
            if let token = connection.token, token.generation <= generation { connection.retire() }
        }
    }
}
