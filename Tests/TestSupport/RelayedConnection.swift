import EventLoop

/// A client's and a server's socket, and what is on its way between them.
final class RelayedConnection {
    private unowned let relay: FaultRelay
    private let client: RelayedEnd
    private let server: RelayedEnd
    private var heardAt = MonotonicTime.now()
    private var idleTimer: TimerID?

    /// Starts relaying.
    ///
    /// - Throws: `EventLoopError` when the sockets cannot be watched.
    init(_ client: consuming Socket, _ server: consuming Socket, relay: FaultRelay) throws {
        self.relay = relay
        self.client = RelayedEnd(client, sends: .toServer, relay: relay)
        self.server = RelayedEnd(server, sends: .toClient, relay: relay)
        for (end, other) in [(self.client, self.server), (self.server, self.client)] {
            end.other = other
            end.connection = self
        }
        conditionsChanged()
    }

    /// Does what the conditions no longer forbid.
    func conditionsChanged() {
        client.step(.now())
        server.step(.now())
        watchSilence(.now())
    }

    /// Something came by.
    func heard(_ now: MonotonicTime) { heardAt = now }

    /// Ends the connection once it has been silent for as long as the conditions allow.
    private func watchSilence(_ now: MonotonicTime) {
        if let timer = idleTimer.take() { relay.loop.cancel(timer) }
        guard let limit = relay.conditions.idleLimit else { return }
        let due = heardAt.adding(limit)
        guard now < due else { return end(withReset: false) }
        idleTimer = relay.loop.schedule(at: due) { [weak self] now in
            self?.idleTimer = nil
            self?.watchSilence(now)
        }
    }

    /// Ends both sockets.
    ///
    /// - Parameter isReset: Whether the peers see a reset, or an ordinary end.
    func end(withReset isReset: Bool) {
        if let timer = idleTimer.take() { relay.loop.cancel(timer) }
        client.end(withReset: isReset)
        server.end(withReset: isReset)
        relay.forget(self)
    }
}
