/// A device as the admin API shows it.
struct DeviceView: Encodable {
    /// A token of the device.
    struct Token: Encodable {
        /// The topic.
        var topic: String
        /// `development` or `production`.
        var environment: String
        /// Whether its app is still registered. A token that only aged out still counts as active.
        var isActive: Bool
        /// Seconds since 1970 at which it was issued.
        var issuedAt: Int64
        /// Hexadecimal digits; nil for a token that is not active, and where sealing fails.
        var token: String?
    }

    /// Its name towards the simulator.
    var id: String
    /// What its owner calls it.
    var name: String
    /// Whether it is connected.
    var isOnline: Bool
    /// `normal` or `low`.
    var power: String
    /// Milliseconds since 1970 at which it was activated.
    var activatedAt: Int64
    /// How many notifications wait for the device or are on their way to it. A notification on its way that allows only
    /// one attempt does not count.
    var waiting: Int
    /// Its tokens.
    var tokens: [Token]
    /// The apps whose notifications are switched off.
    var silenced: [String]
    /// The broadcast channels it listens to.
    var broadcastChannels: [String]

    private enum CodingKeys: String, CodingKey {
        case id, name, isOnline, power, activatedAt, waiting, tokens, silenced
        case broadcastChannels = "channels"
    }

    /// Describes a device; nil for one that is not known.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - state: What the device side knows.
    init?(_ device: DeviceID, in state: DeviceState) {
        guard let known = state.registry.devices[device] else { return nil }
        let presence = state.store.presence(of: device)
        id = device.description
        name = known.name
        isOnline = presence.isOnline
        power = presence.power.rawValue
        activatedAt = known.activatedAt
        waiting = state.store.unsettled(for: device).count
        tokens = known.registrations.map { registration in
            Token(
                topic: registration.topic, environment: registration.environment.rawValue,
                isActive: registration.isActive, issuedAt: registration.issuedAt,
                token: registration.isActive ? try? state.tokens.token(of: registration, device: device) : nil)
        }
        silenced = known.silenced.sorted()
        broadcastChannels = known.subscriptions.map(\.identifier).sorted()
    }
}
