import APNSSimulator
import ArgumentParser
import Text

/// The options of `martlet simulator` about behaviour that Apple does not document.
struct SimulatorRuleOptions: ParsableArguments {
    @Option(help: "A further IP address to listen at, on the same port. Repeatable.")
    var furtherHost: [String] = []

    @Option(help: "A PEM file with authorities of provider certificates beside the simulator's own. Repeatable.")
    var clientTrust: [String] = []

    @Option(help: "How long bytes take to a client and back, such as 40ms.")
    var roundTrip: String?

    @Option(help: "How long a connection may be idle before GOAWAY IdleTimeout, such as 1h. (default: for ever)")
    var idleTimeout: String?

    @Option(help: "Errors in excess of accepted pushes that leave a connection one stream; 0 for never.")
    var errorsUntilShrink = GatewayLimits().errorsUntilShrink

    @Option(help: "Errors in excess of accepted pushes that end a connection, BadDeviceToken counting 4; 0 for never.")
    var errorsUntilDisconnect = GatewayLimits().errorsUntilDisconnect

    @Option(help: "New connections an address may open in a minute; more are closed at once; 0 for any number.")
    var connectionsPerMinute = GatewayLimits().connectionsPerMinute

    @Option(help: "How long one provider token is used before another one may follow; 0s for no accounting.")
    var tokenUpdateInterval = "20m"

    @Option(help: "What shares the account of provider token updates: connection, key or team.")
    var refreshScope = TrustChoices.RefreshScope.connection

    @Option(help: "What too early an update spoils: the token, or the connection until the time is over.")
    var refreshPenalty = TrustChoices.RefreshPenalty.token

    @Option(help: "The reason for a second team on a connection: InvalidProviderToken or Forbidden.")
    var secondTeam = Refusal.invalidProviderToken.reason

    @Option(
        help: "The reason for a key of the other environment: BadEnvironmentKeyIdInToken or BadEnvironmentKeyInToken.")
    var otherEnvironment = Refusal.badEnvironmentKeyID.reason

    @Option(help: "The reason for a topic outside a certificate: TopicDisallowed or DeviceTokenNotForTopic.")
    var topicOutsideCertificate = Refusal.topicDisallowed.reason

    @Option(help: "How a bad provider certificate is told: answer (BadCertificate) or alert (in the TLS handshake).")
    var badCertificate = TrustChoices.CertificateAnswer.answer

    @Option(help: "How a certificate of the other environment is told: answer, goaway or goaway-twice.")
    var certificateEnvironment = TrustChoices.EnvironmentAnswer.answer

    @Flag(help: "Answer with a `date`, by the simulator's clock; Apple does not document one.")
    var sendDate = false

    /// Checks what the parser cannot.
    func validate() throws {
        for (name, text) in [
            ("--round-trip", roundTrip), ("--idle-timeout", idleTimeout),
            ("--token-update-interval", tokenUpdateInterval),
        ] {
            guard let text else { continue }
            guard DurationText.milliseconds(text) != nil else {
                throw ValidationError("\(name) is \(DurationText.form), such as 40ms")
            }
        }
        guard errorsUntilShrink >= 0, errorsUntilDisconnect >= 0, connectionsPerMinute >= 0 else {
            throw ValidationError("a limit is 0 or more")
        }
        for reason in [secondTeam, otherEnvironment, topicOutsideCertificate]
        where Refusal.documented(reason: reason) == nil {
            throw ValidationError("APNs has no reason \(reason)")
        }
    }

    /// Puts the choices into a configuration.
    ///
    /// - Parameter configuration: The configuration.
    func apply(to configuration: inout SimulatorConfiguration) {
        configuration.furtherHosts = furtherHost
        configuration.clientTrustFiles = clientTrust
        configuration.roundTrip = Int(roundTrip.flatMap(DurationText.milliseconds) ?? 0)
        configuration.sendsDate = sendDate
        configuration.limits.idleTimeout = idleTimeout.flatMap(DurationText.milliseconds)
        configuration.limits.errorsUntilShrink = errorsUntilShrink
        configuration.limits.errorsUntilDisconnect = errorsUntilDisconnect
        configuration.limits.connectionsPerMinute = connectionsPerMinute
        configuration.limits.tokenUpdateInterval =
            DurationText.milliseconds(tokenUpdateInterval) ?? configuration.limits.tokenUpdateInterval
        configuration.trust.refreshScope = refreshScope
        configuration.trust.refreshPenalty = refreshPenalty
        configuration.trust.badCertificate = badCertificate
        configuration.trust.certificateEnvironment = certificateEnvironment
        configuration.trust.secondTeam =
            Refusal.documented(reason: secondTeam) ?? configuration.trust.secondTeam
        configuration.trust.otherEnvironment =
            Refusal.documented(reason: otherEnvironment) ?? configuration.trust.otherEnvironment
        configuration.trust.topicOutsideCertificate =
            Refusal.documented(reason: topicOutsideCertificate) ?? configuration.trust.topicOutsideCertificate
    }
}

extension TrustChoices.RefreshScope: ExpressibleByArgument {}
extension TrustChoices.RefreshPenalty: ExpressibleByArgument {}
extension TrustChoices.CertificateAnswer: ExpressibleByArgument {}
extension TrustChoices.EnvironmentAnswer: ExpressibleByArgument {}
