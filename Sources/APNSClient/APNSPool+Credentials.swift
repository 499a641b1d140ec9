package import EventLoop
package import PushModel

// How a pool changes its credential. `CredentialRotation` says what to do, and this extension does it.
extension APNSPool {
    /// The credential of all connections, except for the one that proves a newer version.
    package var credential: APNSCredential { rotation.current }

    /// Another version that was refused. It is kept because there is no better one.
    package var spare: APNSCredential? { rotation.spare }

    /// The version that no answer has proved yet; nil without one.
    package var provingVersion: Int? { rotation.unprovedVersion }

    /// Whether connections use a later version than this one.
    ///
    /// - Parameter version: The number of a version.
    /// - Returns: Whether a later one is in use.
    package func isReplaced(_ version: Int) -> Bool { version < credential.version }

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
        guard let change = rotation.offered(credential) else { return }
        follow(change, now: now)
        advance(now: now)
    }

    /// Closes all connections of the credential, because its time is over. Each finishes its requests first.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - seconds: The time in seconds since 1970, by which certificates are judged.
    package func expire(now: MonotonicTime, seconds: Int64) {
        guard let change = rotation.expired(seconds: seconds) else { return }
        follow(change, now: now)
        advance(now: now)
    }

    /// Takes over another pool's spare version: one that was refused, and is asked for again in the end. The pools
    /// belong to one route.
    ///
    /// - Parameter version: The version; nil for none.
    package func keepSpare(_ version: APNSCredential?) { rotation.keep(spare: version) }

    /// Opens connections again after the credential was refused or its time was over. Otherwise nothing happens.
    ///
    /// - Parameter now: The time.
    package func retryCredential(now: MonotonicTime) {
        guard let change = rotation.retry() else { return }
        follow(change, now: now)
        advance(now: now)
    }

    /// Learns what another pool of the same route heard about a version. The delegate is not told.
    ///
    /// - Parameters:
    ///   - verdict: What APNs said.
    ///   - version: The version that it said it about.
    ///   - now: The time.
    /// - Returns: Whether that changes anything here.
    package func learn(_ verdict: CredentialVerdict, of version: Int, now: MonotonicTime) -> Bool {
        guard let change = rotation.judged(version, verdict) else { return false }
        perform(change.steps, now: now)
        advance(now: now)
        return true
    }

    /// Learns what an answer says about the credential.
    ///
    /// - Returns: Whether the answer says nothing about the notification, so that it may be sent again at once.
    func judge(_ response: APNSResponse, on connection: APNSConnection, now: MonotonicTime) -> Bool {
        let isUnproved = rotation.isUnproved(connection.credential)
        let verdict = response.answer.meaning.credential
        // Nearly every answer ends here.
        if verdict == .accepted, !isUnproved { return false }
        if verdict.isRefusal || isUnproved {
            let reason = response.reason?.rawValue ?? "status \(response.status)"
            apply(verdict, to: connection.credential, reason: reason, now)
        }
        // A refusal of a version that is still being tried, or was replaced, says nothing about the version in use.
        guard isUnproved || connection.credential !== credential, verdict.turnsAway else { return false }
        follow(rotation.turnedAway(connection.credential.version, verdict, now: now), now: now)
        // The notification is sent again at once, and must not go to the same connection.
        if connection.machine.isAdmitting { connection.retire() }
        return true
    }

    /// APNs refused the credential below HTTP: with a TLS alert, or with GOAWAY.
    func refusedConnection(of credential: APNSCredential, _ error: APNSClientError, now: MonotonicTime) {
        apply(.refused(error.refusalScope), to: credential, reason: error.message, now)
    }

    /// Uses a version that has no push to prove it as soon as the server has answered a PING on its connection. Until
    /// then TLS may still refuse a certificate, because it may do so after the handshake (RFC 8446, section 4.4.2.4).
    func tryProof(now: MonotonicTime) {
        guard let connection = rotation.proof.connection, connection.roundTrip != nil, connection.machine.isAdmitting,
            !demand.hasBacklog, openStreams == 0
        else { return }
        follow(rotation.reached(connection.credential.version), now: now)
    }

    /// Tries the proof again when its time has come.
    ///
    /// - Returns: When that is; nil for never.
    func retryProof(now: MonotonicTime) -> MonotonicTime? {
        guard let due = rotation.proofDue else { return nil }
        guard now >= due else { return due }
        follow(rotation.retryProof(), now: now)
        return nil
    }

    private func apply(
        _ verdict: CredentialVerdict, to judged: APNSCredential, reason: String, _ now: MonotonicTime
    ) {
        guard let change = rotation.judged(judged.version, verdict, reason: reason) else { return }
        follow(change, now: now)
    }

    /// Does what follows from an event, and tells the lane.
    private func follow(_ change: CredentialRotation.Change, now: MonotonicTime) {
        perform(change.steps, now: now)
        if let event = change.event { delegate?.pool(self, credential: event) }
    }

    private func perform(_ steps: [CredentialRotation.Step], now: MonotonicTime) {
        for step in steps {
            switch step {
            case .openProof(let version):
                guard !machine.isStopped else { continue }
                let request = ask(with: version, now: now)
                rotation.began(request)
            case .dropProof(let proof):
                proof.connection?.retire()
                if let request = proof.request { requests.remove(request) }
            case .switchTo(let version, after: let proof):
                if let proven = proof.connection, proven.credential === version, proven.machine.isAdmitting {
                    proven.isCounted = true
                    machine.joined()
                }
                // A proof that is still being opened is not waited for. The pool opens its connections itself.
                if let request = proof.request { requests.remove(request) }
                for connection in connections.all where connection.credential !== version { connection.retire() }
            case .closeAll(let version):
                for connection in connections.all where connection.credential.version == version {
                    connection.retire()
                }
            }
        }
        machine.isSuspended = rotation.isRefused
    }
}
