/// Everything that can be chosen about a simulator.
package struct SimulatorConfiguration: Sendable {
    /// The concurrent streams announced.
    package struct Streams: Equatable, Sendable {
        /// Before the first push without a fault of its sender, or the first broadcast request with a good credential.
        package var initial: UInt32
        /// From then on.
        package var full: UInt32

        /// As APNs does on token connections: one stream, then a thousand.
        package static let asAPNs = Streams(initial: 1, full: 1000)

        /// The same number all the time.
        ///
        /// - Parameter count: How many.
        package static func fixed(_ count: UInt32) -> Streams { Streams(initial: count, full: count) }
    }

    /// The directory that keeps the certificate authority; made where it is missing.
    package var stateDirectory: String
    /// The address to listen at.
    package var host = "127.0.0.1"
    /// Further addresses to listen at, on the same port.
    package var furtherHosts: [String] = []
    /// The port of the gateway; 0 for any free one.
    package var port = 0
    /// The port of the admin API, always on loopback; 0 for any free one, nil for no API.
    package var adminPort: Int? = 0
    /// Names and addresses for the server certificate beside `localhost`, `127.0.0.1` and `::1`.
    package var serverNames: [String] = []
    /// Which of Apple's services to play.
    package var environment = ServiceEnvironment.development
    /// The keys whose provider tokens are good.
    package var keys: [ProviderKey] = []
    /// Whether, with no keys given, any well-formed provider token is good.
    package var acceptsAnyKey = false
    /// Files with authorities of client certificates beside the simulator's own.
    package var clientTrustFiles: [String] = []
    /// The answers about credentials that Apple leaves open.
    package var trust = TrustChoices()
    /// What the gateway tolerates.
    package var limits = GatewayLimits()
    /// Whether answers carry `date`, which Apple does not document.
    package var sendsDate = false
    /// How long bytes take to a client and back, in milliseconds.
    package var roundTrip = 0
    /// The script of verdicts and of rules for connections.
    package var scenario = Scenario()
    /// Whether the first digits of device tokens choose verdicts, see ``DeviceTokenPrefix``.
    package var usesTokenPrefixes = true
    /// Whether payloads must be JSON objects.
    package var requiresJSONObject = true
    /// How long device tokens may be, in bytes.
    package var tokenLengths = PushRules.defaultTokenLengths
    /// The concurrent streams announced.
    package var streams = Streams.asAPNs
    /// The thin mode for benchmarks: every request is answered 200 without any check, and nothing is listed.
    package var acceptsAll = false
    /// How many threads serve connections.
    package var threads = 1
    /// How many pushes the ledger lists.
    package var ledgerCapacity = Ledger.defaultCapacity
    /// Devices, storage and broadcast.
    package var devices = DeviceConfiguration()

    /// Starts from the defaults above.
    ///
    /// - Parameter stateDirectory: The directory that keeps the certificate authority.
    package init(stateDirectory: String) { self.stateDirectory = stateDirectory }
}
