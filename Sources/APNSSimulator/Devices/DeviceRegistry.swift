import Text

/// The devices that a simulator has activated, and which of their tokens are alive.
///
/// A value without clock or lock: events and times go in, facts come out.
struct DeviceRegistry: Sendable {
    /// How many devices are remembered. A further device takes the place of a device that is not connected.
    static let deviceLimit = 10_000
    /// How many registrations a device may have: one for each pair of topic and environment. The same limit holds for
    /// the apps whose notifications the owner has switched off.
    static let topicLimit = 64
    /// How many broadcast channels a device may listen to.
    static let subscriptionLimit = 64
    /// How many dead tokens per topic keep their own time of death. Older ones get the time of the oldest that is kept.
    static let retiredLimit = 16

    /// A token that is dead.
    struct Retired: Codable, Equatable, Sendable {
        /// Which token.
        var generation: UInt32
        /// Milliseconds since 1970 at which it died.
        var endedAt: Int64
    }

    /// The tokens of a device for one topic in one environment.
    struct Registration: Codable, Equatable, Sendable {
        /// The topic.
        var topic: String
        /// The environment.
        var environment: ServiceEnvironment
        /// The number of the newest token.
        var generation: UInt32
        /// The salt of the newest token.
        var salt: [UInt8]
        /// Seconds since 1970 at which it was issued.
        var issuedAt: Int64
        /// Whether it is alive.
        var isActive: Bool
        /// The dead tokens, oldest first; at most ``retiredLimit``.
        var retired: [Retired] = []
    }

    /// One device.
    struct Device: Codable, Equatable, Sendable {
        /// Its name.
        var id: UUIDBytes
        /// What its owner calls it.
        var name: String
        /// Milliseconds since 1970 at which it was activated.
        var activatedAt: Int64
        /// Its tokens.
        var registrations: [Registration] = []
        /// The apps whose notifications the owner has switched off.
        var silenced: Set<String> = []
        /// The broadcast channels it listens to.
        var subscriptions: Set<BroadcastChannelAddress> = []
    }

    /// The state of a token.
    enum Standing: Equatable {
        /// It takes pushes.
        case active
        /// It died at that time, in milliseconds since 1970.
        case unregistered(since: Int64)
        /// It aged out at that time, in milliseconds since 1970.
        case expired(at: Int64)
        /// No such token was issued here, or its device is forgotten.
        case unknown
    }

    /// How long a token lives, in seconds; nil for as long as its registration.
    let tokenLifetime: Int64?

    private(set) var devices: [DeviceID: Device] = [:]

    /// Starts with what was kept.
    ///
    /// - Parameters:
    ///   - devices: Devices activated before.
    ///   - tokenLifetime: How long a token lives, in seconds; nil for as long as its registration.
    init(devices: [Device] = [], tokenLifetime: Int64? = nil) {
        self.tokenLifetime = tokenLifetime
        for device in devices.prefix(Self.deviceLimit) { self.devices[DeviceID(device.id)] = device }
    }

    /// Makes a new device known.
    ///
    /// - Parameters:
    ///   - id: Its name.
    ///   - name: What its owner calls it.
    ///   - now: Milliseconds since 1970.
    /// - Returns: False where the registry is full, or the device is known already.
    mutating func activate(_ id: DeviceID, name: String, now: Int64) -> Bool {
        guard devices[id] == nil, devices.count < Self.deviceLimit else { return false }
        devices[id] = Device(id: id.value, name: name, activatedAt: now)
        return true
    }

    /// Whether a new device must take the place of another.
    var isFull: Bool { devices.count >= Self.deviceLimit }

    /// Forgets one device: of those that may be forgotten, the one activated first. Its tokens are then unknown.
    ///
    /// - Parameter isForgettable: Whether a device may be forgotten.
    /// - Returns: The device; nil where no device may be forgotten.
    mutating func forgetOldest(where isForgettable: (DeviceID) -> Bool) -> DeviceID? {
        let oldest = devices.filter { isForgettable($0.key) }.min { $0.value.activatedAt < $1.value.activatedAt }?.key
        if let oldest { devices[oldest] = nil }
        return oldest
    }

    /// Takes a device's activation back.
    ///
    /// - Parameter id: The device.
    mutating func forget(_ id: DeviceID) { devices[id] = nil }

    /// Registers a device for a topic: gives the token that is alive, or a new one.
    ///
    /// - Parameters:
    ///   - id: The device.
    ///   - topic: The topic, at most ``DeviceTokenCodec/topicLimit`` bytes.
    ///   - environment: The environment.
    ///   - now: Milliseconds since 1970.
    ///   - salt: Eight new random bytes for a new token.
    /// - Returns: The registration; nil for an unknown device, and for a device with ``topicLimit`` registrations.
    mutating func register(
        _ id: DeviceID, topic: String, environment: ServiceEnvironment, now: Int64, salt: [UInt8]
    ) -> Registration? {
        guard var device = devices[id] else { return nil }
        if let index = device.registrations.firstIndex(where: { $0.topic == topic && $0.environment == environment }) {
            var registration = device.registrations[index]
            if registration.isActive, expiry(of: registration.issuedAt).map({ $0 > now }) ?? true {
                return registration
            }
            if registration.isActive { Self.retire(&registration, now: now) }
            registration.generation += 1
            registration.salt = salt
            registration.issuedAt = now / 1000
            registration.isActive = true
            device.registrations[index] = registration
            devices[id] = device
            return registration
        }
        guard device.registrations.count < Self.topicLimit else { return nil }
        let registration = Registration(
            topic: topic, environment: environment, generation: 1, salt: salt, issuedAt: now / 1000, isActive: true)
        device.registrations.append(registration)
        devices[id] = device
        return registration
    }

    /// Ends tokens and subscriptions: of one app that was uninstalled, or of all apps if the device was restored or
    /// set up again.
    ///
    /// - Parameters:
    ///   - id: The device.
    ///   - app: A bundle identifier; nil for all apps.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The topics whose tokens were alive until now.
    mutating func end(_ id: DeviceID, app: String?, now: Int64) -> [String] {
        guard var device = devices[id] else { return [] }
        var ended: [String] = []
        for index in device.registrations.indices where device.registrations[index].isActive {
            let topic = device.registrations[index].topic
            if let app, topic != app, GatewayPushType.bundleIdentifier(of: topic) != app { continue }
            Self.retire(&device.registrations[index], now: now)
            ended.append(topic)
        }
        device.subscriptions = device.subscriptions.filter { app != nil && $0.app != app }
        devices[id] = device
        return ended
    }

    /// Judges a token.
    ///
    /// - Parameters:
    ///   - content: What the token says.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The state of the token.
    func standing(of content: DeviceTokenCodec.Content, now: Int64) -> Standing {
        guard
            let registration = devices[content.device]?.registrations.first(where: {
                $0.topic == content.topic && $0.environment == content.environment
            }), content.generation <= registration.generation
        else { return .unknown }
        if content.generation < registration.generation || !registration.isActive {
            let exact = registration.retired.first { $0.generation >= content.generation }
            return .unregistered(since: (exact ?? registration.retired.last)?.endedAt ?? now)
        }
        if let expiry = expiry(of: content.issuedAt), expiry <= now { return .expired(at: expiry) }
        return .active
    }

    /// Changes a device.
    ///
    /// - Parameters:
    ///   - id: The device.
    ///   - change: What to change; not called for an unknown device.
    mutating func update(_ id: DeviceID, _ change: (inout Device) -> Void) {
        guard var device = devices[id] else { return }
        change(&device)
        devices[id] = device
    }

    private func expiry(of issuedAt: Int64) -> Int64? {
        tokenLifetime.map { (issuedAt &+ $0) &* 1000 }
    }

    private static func retire(_ registration: inout Registration, now: Int64) {
        registration.isActive = false
        registration.retired.append(Retired(generation: registration.generation, endedAt: now))
        if registration.retired.count > retiredLimit { registration.retired.removeFirst() }
    }
}

extension ServiceEnvironment: Codable {}
