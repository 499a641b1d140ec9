import Text

/// The broadcast channels of all apps in one environment.
///
/// A value without clock or lock. See Apple, "Sending channel management requests to APNs": identifiers are random
/// base64 and never reused, the storage policy is fixed at creation, an app has at most 10,000 broadcast channels.
struct BroadcastChannelRegistry: Sendable {
    /// How many broadcast channels an app has at most.
    static let limit = 10_000
    /// How many apps may have broadcast channels. There is a limit because clients choose the names of apps.
    static let appLimit = 1000
    /// The longest broadcast channel identifier, in bytes. Apple documents no limit.
    static let identifierLimit = 64
    /// The longest time that a storing broadcast channel keeps its most recent message, in milliseconds: eight hours.
    static let longestStorage: Int64 = 8 * 3_600_000

    /// One broadcast channel.
    struct Entry: Codable, Equatable, Sendable {
        /// App and identifier.
        var address: BroadcastChannelAddress
        /// The environment. Environments do not share broadcast channels.
        var environment: ServiceEnvironment
        /// Whether the most recent message is stored (`message-storage-policy` 1).
        var isStoring: Bool
        /// Milliseconds since 1970 at which it was created.
        var createdAt: Int64
        /// The most recent message of a storing broadcast channel; nil before the first message, and without storing.
        var latest: StoredNotification?
    }

    /// The environment of the simulator.
    let environment: ServiceEnvironment

    /// By app, then by identifier.
    private var entries: [String: [String: Entry]] = [:]
    private var others: [Entry] = []

    /// Starts with what was kept.
    ///
    /// - Parameters:
    ///   - environment: The environment of the simulator.
    ///   - kept: Broadcast channels created before, of any environment.
    init(environment: ServiceEnvironment, kept: [Entry] = []) {
        self.environment = environment
        others = kept.filter { $0.environment != environment }
        for entry in kept where entry.environment == environment {
            entries[entry.address.app, default: [:]][entry.address.identifier] = entry
        }
    }

    /// All broadcast channels, as they are kept on disk. Those of the other environment come first, then the others by
    /// identifier.
    var all: [Entry] {
        others + entries.values.flatMap(\.values).sorted { $0.address.identifier < $1.address.identifier }
    }

    /// Creates a broadcast channel.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier.
    ///   - isStoring: Whether the most recent message is stored.
    ///   - random: Makes the identifier.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The identifier; nil where the app has ``limit`` broadcast channels, or where it would be the first of
    ///   the app and ``appLimit`` apps have some.
    mutating func create(
        app: String, isStoring: Bool, random: inout some RandomNumberGenerator, now: Int64
    ) -> String? {
        guard entries[app].map({ $0.count < Self.limit }) ?? (entries.count < Self.appLimit) else {
            return nil
        }
        var bytes: [UInt8] = []
        for _ in 0..<16 { bytes.append(.random(in: 0...255, using: &random)) }
        let identifier = Base64.standard.text(bytes)
        entries[app, default: [:]][identifier] = Entry(
            address: BroadcastChannelAddress(app: app, identifier: identifier), environment: environment,
            isStoring: isStoring,
            createdAt: now)
        return identifier
    }

    /// Finds a broadcast channel.
    ///
    /// - Parameter address: App and identifier.
    /// - Returns: The broadcast channel; nil where the app has no such broadcast channel in this environment.
    func broadcastChannel(_ address: BroadcastChannelAddress) -> Entry? { entries[address.app]?[address.identifier] }

    /// The identifiers of an app's broadcast channels, sorted.
    ///
    /// - Parameter app: The bundle identifier.
    func identifiers(of app: String) -> [String] { (entries[app]?.keys).map { $0.sorted() } ?? [] }

    /// Deletes a broadcast channel.
    ///
    /// - Parameter address: App and identifier.
    /// - Returns: The broadcast channel as it was; nil without one.
    @discardableResult
    mutating func delete(_ address: BroadcastChannelAddress) -> Entry? {
        guard let removed = entries[address.app]?.removeValue(forKey: address.identifier) else { return nil }
        if entries[address.app]?.isEmpty == true { entries[address.app] = nil }
        return removed
    }

    /// Puts a broadcast channel back, because its deletion could not be written.
    ///
    /// - Parameter entry: The broadcast channel as it was.
    mutating func restore(_ entry: Entry) {
        entries[entry.address.app, default: [:]][entry.address.identifier] = entry
    }

    /// Keeps a message as the most recent one of a broadcast channel. Does nothing where the broadcast channel does not
    /// store.
    ///
    /// - Parameters:
    ///   - notification: The message.
    ///   - address: App and identifier.
    mutating func keep(_ notification: StoredNotification, for address: BroadcastChannelAddress) {
        guard entries[address.app]?[address.identifier]?.isStoring == true else { return }
        entries[address.app]?[address.identifier]?.latest = notification
    }

    /// Takes the most recent message of a broadcast channel back, unless a newer message has replaced it.
    ///
    /// - Parameters:
    ///   - notification: The message.
    ///   - former: The message that was the most recent one before; nil without one.
    ///   - address: App and identifier.
    mutating func takeBack(
        _ notification: StoredNotification, for former: StoredNotification?, at address: BroadcastChannelAddress
    ) {
        guard entries[address.app]?[address.identifier]?.latest?.uniqueID == notification.uniqueID else { return }
        entries[address.app]?[address.identifier]?.latest = former
    }
}
