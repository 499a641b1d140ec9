import TLS

/// The changes that can be made to a simulator while it runs. The admin API and tests use the same calls. Safe from any
/// thread.
package struct SimulatorControl: Sendable {
    /// What all connections share.
    let service: PushService
    /// The connections.
    let gateway: Gateway
    /// The certificates clients are shown.
    let certificates: ServerCertificates
    /// Issues provider certificates.
    let authority: CertificateAuthority
    /// Keeps the clock and the revocations across a restart.
    let archive: ControlArchive

    /// The simulator's time, in milliseconds since 1970.
    package var now: Int64 { service.clock.now }

    /// How far the simulator's time is ahead, in milliseconds.
    package var clockAdvance: Int64 { service.clock.advance }

    /// Puts the clock of all rules forward.
    ///
    /// - Parameter milliseconds: How far.
    /// - Returns: False where `milliseconds` is negative, or the clock would be too far ahead of the real time. The
    ///   clock then stays.
    @discardableResult
    package func advanceClock(milliseconds: Int64) -> Bool {
        guard service.clock.advance(milliseconds: milliseconds) else { return false }
        keep()
        gateway.attend()
        return true
    }

    /// Takes the clock of all rules back to the real time. Times that were written down before do not change.
    package func resetClock() {
        service.clock.reset()
        keep()
        gateway.attend()
    }

    /// Makes a provider's key known, or replaces the one with the same identifier.
    ///
    /// - Parameter key: The key.
    package func add(_ key: ProviderKey) { service.credentials.add(key) }

    /// Revokes a provider's key, or takes the revocation back. Tokens of a revoked key are answered
    /// `InvalidProviderToken`.
    ///
    /// - Parameters:
    ///   - keyID: The key's identifier.
    ///   - isRevoked: Whether it is revoked.
    ///   - delay: The time until a revocation takes effect, in milliseconds of the simulator's clock. Not used where
    ///     `isRevoked` is false.
    /// - Returns: Whether the key is known. Always true where there are no keys and any well-formed token is accepted.
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

    /// Revokes a provider's certificate, or takes the revocation back. Pushes with a revoked certificate are answered
    /// `BadCertificate`.
    ///
    /// - Parameters:
    ///   - serialNumber: The serial number in hexadecimal digits.
    ///   - isRevoked: Whether it is revoked.
    ///   - delay: The time until a revocation takes effect, in milliseconds of the simulator's clock. Not used where
    ///     `isRevoked` is false.
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

    /// Takes the service down, or brings it back. When it goes down, connections get GOAWAY with `Shutdown`, and later
    /// pushes are refused with `Shutdown`.
    ///
    /// - Parameter isShutDown: Whether it is down from now on.
    package func setShutDown(_ isShutDown: Bool) {
        service.isDraining = isShutDown
        gateway.attend()
    }

    /// Takes the service down because the process is about to end. Clients are told before connections close.
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
