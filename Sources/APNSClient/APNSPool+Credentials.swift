package import EventLoop
import PushModel

// How a pool changes its credential. `CredentialRotation` says what to do, and this extension does it.
extension APNSPool {
    /// The credential of all connections, except for the one that proves a newer version.
    package var credential: APNSCredential { rotation.current }

    /// Another version that was refused, or whose time was over. The pool keeps it, to try it again later.
    package var spare: APNSCredential? { rotation.spare }

    /// The version that no answer has proved yet; nil without one.
    package var provingVersion: Int? { rotation.unprovedVersion }

    /// Whether connections use a later version than this one.
    ///
    /// - Parameter version: The number of a version.
    /// - Returns: Whether a later one is in use.
    package func isReplaced(_ version: Int) -> Bool { version < credential.version }

    /// Offers a version of the credential that was just read. A version that is not newer than all known versions is
    /// ignored.
    ///
    /// - The new version proves itself on a connection of its own. All other connections follow after the first answer
    ///   that accepts it.
    /// - If APNs refuses the new version, the old version stays in use. No notification fails because of the refusal.
    /// - If there is nothing to send, the new version is used once its connection works. Later answers decide whether
    ///   the new version stays.
    /// - If the old version was refused before, or its time was over, the new version is used at once.
    ///
    /// - Parameters:
    ///   - credential: The version.
    ///   - now: The time.
    package func offer(_ credential: APNSCredential, now: MonotonicTime) {
        guard let change = rotation.offered(credential) else { return }
        follow(change, now: now)
        advance(now: now)
    }

    /// Closes all connections of the version in use, because its time is over. Each finishes its requests first.
    ///
    /// A version that is being proved, or else a spare version that is valid now, takes its place.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - seconds: The time in seconds since 1970, by which certificates are judged.
    package func expire(now: MonotonicTime, seconds: Int64) {
        guard let change = rotation.expired(seconds: seconds) else { return }
        follow(change, now: now)
        advance(now: now)
    }

    /// Takes over the spare version of another pool of the same route. The spare version is tried again once the
    /// version in use is refused or its time is over.
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

    /// Learns what an answer says about the credential.
    ///
    /// - Returns: Whether the answer says nothing about the notification. The notification may then be sent again at
    ///   once.
    func judge(_ response: APNSResponse, on connection: APNSConnection, now: MonotonicTime) -> Bool {
        let isUnproved = rotation.isUnproved(connection.credential)
        let verdict = response.answer.meaning.credential
        // Nearly every answer ends here.
        if verdict == .accepted, !isUnproved { return false }
        if doubts(response, on: connection, now: now) { return true }
        if verdict.isRefusal || isUnproved {
            let reason = response.reason?.rawValue ?? "status \(response.status)"
            apply(verdict, to: connection.credential, reason: reason, now)
        }
        // An answer that turns away a version that is not proved or was replaced says nothing about the notification.
        guard isUnproved || connection.credential !== credential, verdict.turnsAway else { return false }
        follow(rotation.turnedAway(connection.credential.version, verdict, now: now), now: now)
        // The notification is sent again at once, and must not go to the same connection.
        if connection.machine.isAdmitting { connection.retire() }
        return true
    }

    /// Whether an answer that refuses the version in use is not believed. The connection then takes no more requests.
    private func doubts(_ response: APNSResponse, on connection: APNSConnection, now: MonotonicTime) -> Bool {
        let verdict = response.answer.meaning.credential
        guard verdict.isRefusal || verdict == .unexplained else { return false }
        return doubts(connection, reason: response.answer.text, now: now)
    }

    /// Whether a refusal of the version in use is not believed, because its connection has had pushes accepted.
    private func doubts(_ connection: APNSConnection, reason: String, now: MonotonicTime) -> Bool {
        let version = connection.credential
        guard version === credential, rotation.unprovedVersion == nil, !rotation.isRefused,
            !doubt.believes(
                hasAccepted: connection.machine.hasAccepted, isFirst: !connection.isDoubted, now: now)
        else { return false }
        guard !connection.isDoubted else { return true }
        connection.isDoubted = true
        connection.retire()
        delegate?.pool(self, credential: .doubted(version: version.version, reason: reason))
        return true
    }

    /// APNs refused the credential of a connection that has ended, with a TLS alert or GOAWAY.
    func refused(_ connection: APNSConnection, _ error: APNSClientError, now: MonotonicTime) {
        guard !doubts(connection, reason: error.message, now: now) else { return }
        refusedConnection(of: connection.credential, error, now: now)
    }

    /// APNs refused the credential below HTTP: with a TLS alert, or with GOAWAY.
    func refusedConnection(of credential: APNSCredential, _ error: APNSClientError, now: MonotonicTime) {
        apply(.refused(error.refusalScope), to: credential, reason: error.message, now)
    }

    /// Uses the version that is being proved, although no push has proved it, if there is nothing to send. Before that,
    /// the server must have answered a PING on the version's connection. Until the answer the server may still refuse a
    /// certificate, because TLS allows this after the handshake (RFC 8446, section 4.4.2.4).
    func tryProof(now: MonotonicTime) {
        guard let connection = rotation.proof.connection, connection.roundTrip != nil, connection.machine.isAdmitting,
            !demand.hasBacklog, openStreams == 0
        else { return }
        follow(rotation.reached(connection.credential.version), now: now)
    }

    /// Tries the proof again when its time has come.
    ///
    /// - Returns: When the next try is due, if that is later than `now`; otherwise nil.
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

    /// Performs the steps of a change, and tells the lane.
    private func follow(_ change: CredentialRotation.Change, now: MonotonicTime) {
        perform(change.steps, now: now)
        if let event = change.event { delegate?.pool(self, credential: event) }
    }

    func perform(_ steps: [CredentialRotation.Step], now: MonotonicTime) {
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
                    proven.standing = .counted
                    machine.joined()
                }
                // The pool does not wait for a proof that is still being opened. It opens its connections itself.
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
