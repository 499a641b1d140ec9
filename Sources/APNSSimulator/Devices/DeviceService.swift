import EventLoop
import FoundationEssentials
import Logging
import Synchronization
import Text

/// The part of the device side that the gateway uses. It judges device tokens and gives access to devices and broadcast
/// channels. Safe from any thread.
///
/// A push for a token that the simulator did not issue goes no further than a first look at the token.
final class DeviceService: Sendable {
    /// Makes devices and tokens genuine.
    let authority: DeviceAuthority
    /// The present, in milliseconds since 1970.
    let clock: @Sendable () -> Int64
    /// Sends events to the listeners of the admin API.
    let events = EventHub()
    /// What the device side knows, in memory and on disk.
    let storage: DeviceStorage
    /// Answers the requests of devices.
    let responder: DeviceResponder

    private let environment: ServiceEnvironment
    private let demandsIssuedTokens: Bool
    private let backlogLimit: Int

    /// Reads what was kept.
    ///
    /// - Parameters:
    ///   - configuration: The simulator's configuration.
    ///   - clock: The time of all rules.
    ///   - health: Is told which files cannot be written.
    ///   - logger: Tells of files that cannot be written.
    /// - Throws: ``SimulatorError`` where keys or kept devices cannot be read.
    init(
        configuration: SimulatorConfiguration, clock: VirtualClock, health: StorageHealth, logger: Logger
    ) throws(SimulatorError) {
        let directory = try StateDirectory(configuration.stateDirectory)
        let present = configuration.devices.clock ?? { clock.now }
        authority = try DeviceAuthority(in: directory)
        storage = try DeviceStorage(
            in: directory, configuration: configuration, tokens: authority.tokens, events: events, clock: present,
            health: health, logger: logger)
        responder = DeviceResponder(
            environment: configuration.environment, authority: authority, storage: storage, clock: present)
        environment = configuration.environment
        demandsIssuedTokens = configuration.devices.demandsIssuedTokens
        backlogLimit = configuration.devices.backlogLimit
        self.clock = present
    }

    /// The broadcast channels.
    var broadcastChannels: BroadcastChannels { BroadcastChannels(storage: storage) }

    /// Judges a push's device token.
    ///
    /// - Parameters:
    ///   - push: A push that broke no rule so far.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The refusal; nil where the push may pass.
    func refusal(for push: ValidPush, now: Int64) -> Refusal? {
        guard let content = authority.tokens.content(of: push.token) else {
            return demandsIssuedTokens ? .badDeviceToken : nil
        }
        guard content.environment == environment else { return .badDeviceToken }
        guard content.topic == push.topic else { return .deviceTokenNotForTopic }
        switch storage.state.withLock({ $0.registry.standing(of: content, now: now) }) {
        case .active: return hasRoom ? nil : .serviceUnavailable
        case .unknown: return .badDeviceToken
        case .unregistered(let time): return Refusal.unregistered.at(time)
        case .expired(let time): return Refusal.expiredToken.at(time)
        }
    }

    /// Whether fewer notifications than the backlog limit wait or are on their way.
    var hasRoom: Bool { storage.state.withLock { $0.store.held < backlogLimit } }

    /// Prepares a push that is to be answered 200.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log answered.
    ///   - payload: The payload.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The delivery to make; nil where the simulator did not issue the device token.
    func arrival(
        of push: ValidPush, id: UUIDBytes, uniqueID: UUIDBytes, payload: [UInt8], now: Int64
    ) -> Arrival? {
        guard let content = authority.tokens.content(of: push.token) else { return nil }
        let notification = StoredNotification(
            id: id, uniqueID: uniqueID, app: GatewayPushType.bundleIdentifier(of: push.topic), topic: push.topic,
            type: push.type.rawValue, priority: push.priority,
            collapseID: push.collapseID.map { String(decoding: $0, as: UTF8.self) }, acceptedAt: now,
            deadline: StoredNotification.deadline(expiration: push.expiration, now: now), payload: .init(payload))
        return Arrival(notification: notification, device: content.device)
    }

    /// Discards notifications that have expired, and sends groups that are due.
    func tick() {
        let now = clock()
        storage.state.withLock { $0.tick(now: now) }
    }

    /// Connects the service with the thread of the device port.
    ///
    /// - Parameters:
    ///   - port: Where that thread takes messages; nil once it has ended.
    ///   - number: The number of the port; 0 for none.
    func attach(_ port: Mailbox<DevicePortMessage>?, number: Int = 0) {
        storage.state.withLock { $0.attach(port, number: number) }
    }
}

extension Refusal {
    /// The same refusal with the time a device token became invalid.
    ///
    /// - Parameter time: Milliseconds since 1970.
    /// - Returns: The refusal.
    func at(_ time: Int64) -> Refusal { Refusal(status, reason, timestamp: time, retryAfter: retryAfter) }
}
