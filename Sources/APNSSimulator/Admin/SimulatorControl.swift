import TLS

/// What can be changed about a simulator while it runs; the admin API and tests use the same calls. Any thread.
package struct SimulatorControl: Sendable {
    /// What all connections share.
    let service: PushService
    /// The connections.
    let gateway: Gateway
    /// The certificates clients are shown.
    let certificates: ServerCertificates
    /// Issues provider certificates.
    let authority: CertificateAuthority
    /// Keeps what is changed across a restart.
    let archive: ControlArchive

    /// The simulator's time, in milliseconds since 1970.
    package var now: Int64 { service.clock.now }

    /// How far the simulator's time is ahead, in milliseconds.
    package var clockAdvance: Int64 { service.clock.advance }

    /// Puts the clock of all rules forward.
    ///
    /// - Parameter milliseconds: How far.
    /// - Returns: False where it cannot be moved so far.
    @discardableResult
    package func advanceClock(milliseconds: Int64) -> Bool {
        guard service.clock.advance(milliseconds: milliseconds) else { return false }
        keep()
        gateway.attend()
        return true
    }

    /// Takes the clock of all rules back to the real time; what was written down before keeps its times.
    package func resetClock() {
        service.clock.reset()
        keep()
        gateway.attend()
    }

    /// Makes a provider's key known, or replaces the one with the same identifier.
    ///
    /// - Parameter key: The key.
    package func add(_ key: ProviderKey) { service.credentials.add(key) }

    /// Revokes a provider's key or takes that back: its tokens are answered `InvalidProviderToken`.
    ///
    /// - Parameters:
    ///   - keyID: The key's identifier.
    ///   - isRevoked: Whether it is revoked.
    ///   - delay: After how many milliseconds of the simulator's clock a revocation takes effect.
    /// - Returns: Whether such a key is known.
    @discardableResult
    package func setKey(_ keyID: String, isRevoked: Bool, after delay: Int64 = 0) -> Bool {
        defer { keep() }
        return service.credentials.setKey(keyID, isRevoked: isRevoked, due: due(after: delay))
    }

    /// Issues a provider certificate.
    ///
    /// - Parameter request: The certificate's contents.
    /// - Returns: The certificate and its key.
    /// - Throws: ``SimulatorError`` where the request cannot be met.
    package func issue(_ request: ProviderCertificateRequest) throws(SimulatorError) -> ProviderCertificate {
        try ProviderCertificates.issue(request, by: authority)
    }

    /// Revokes a provider's certificate or takes that back: its pushes are answered `BadCertificate`.
    ///
    /// - Parameters:
    ///   - serialNumber: The serial number in hexadecimal digits.
    ///   - isRevoked: Whether it is revoked.
    ///   - delay: After how many milliseconds of the simulator's clock a revocation takes effect.
    package func setCertificate(_ serialNumber: String, isRevoked: Bool, after delay: Int64 = 0) {
        service.credentials.setCertificate(serialNumber, isRevoked: isRevoked, due: due(after: delay))
        keep()
    }

    private func due(after delay: Int64) -> Int64? { delay > 0 ? service.clock.now + delay : nil }

    /// Shows clients another server certificate from the next connection on.
    ///
    /// - Parameter kind: Which.
    package func show(_ kind: ServerCertificateKind) { certificates.show(kind) }

    /// Begins another scenario.
    ///
    /// - Parameter scenario: The scenario; its further addresses are not listened at.
    package func use(_ scenario: Scenario) { service.use(scenario) }

    /// Lets the service go down, or come back: connections get GOAWAY `Shutdown`, and later pushes are answered so.
    ///
    /// - Parameter isShutDown: Whether it is down from now on.
    package func setShutDown(_ isShutDown: Bool) {
        service.isDraining = isShutDown
        gateway.attend()
    }

    /// Lets the service go down as a service does that is about to end: clients are told before.
    func announceEnd() {
        service.announcesEnd = true
        service.isDraining = true
        gateway.attend()
    }

    private func keep() {
        archive.save {
            var kept = KeptControl(clockAdvance: service.clock.advance)
            service.credentials.keep(in: &kept)
            return kept
        }
    }
}
