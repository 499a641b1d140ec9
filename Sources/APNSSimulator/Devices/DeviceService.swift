internal import EventLoop
internal import Logging
import Synchronization

/// What the device side shares with the gateway: registry, storage, delivery log and channels. Safe from any thread.
///
/// Pushes for tokens that are not of the simulator's making never get past the first look at the token.
final class DeviceService: Sendable {
    /// Everything behind the lock.
    struct State {
        /// The devices and their tokens.
        var registry: DeviceRegistry
        /// What waits and what is on its way.
        var store: NotificationStore
        /// What happened to each notification.
        var log = DeliveryLog()
        /// What people see.
        var recent = RecentNotifications()
        /// The broadcast channels.
        var channels: ChannelRegistry
        /// The connection of each device that is online.
        var links: [DeviceID: Int] = [:]
        /// Devices whose files are out of date.
        var unsaved: Set<DeviceID> = []
        /// Devices whose files are to be removed.
        var forgotten: Set<DeviceID> = []
        /// Whether the channels' file is out of date.
        var areChannelsUnsaved = false
        /// The device port's thread; nil before it runs.
        var port: Mailbox<DevicePortMessage>?
        /// The number of the device port; 0 for none.
        var portNumber = 0
    }

    /// The environment the simulator plays.
    let environment: ServiceEnvironment
    /// Whether tokens that are not of the simulator's making are refused.
    let demandsIssuedTokens: Bool
    /// Makes devices and tokens genuine.
    let authority: DeviceAuthority
    /// The present, in milliseconds since 1970.
    let clock: @Sendable () -> Int64
    /// Tells those who look on.
    let events = EventHub()

    /// Everything that changes.
    let state: Mutex<State>
    private let archive: DeviceArchive
    private let writing = Mutex(())
    private let logger: Logger

    /// Reads what was kept.
    ///
    /// - Parameters:
    ///   - configuration: The simulator's configuration.
    ///   - clock: The time of all rules.
    ///   - logger: Tells of files that cannot be written.
    /// - Throws: ``SimulatorError`` where keys or kept devices cannot be read.
    init(configuration: SimulatorConfiguration, clock: VirtualClock, logger: Logger) throws(SimulatorError) {
        let directory = try StateDirectory(configuration.stateDirectory)
        authority = try DeviceAuthority(in: directory)
        archive = try DeviceArchive(in: directory)
        environment = configuration.environment
        demandsIssuedTokens = configuration.devices.demandsIssuedTokens
        self.clock = configuration.devices.clock ?? { clock.now }
        self.logger = logger
        let files = try archive.load()
        var store = NotificationStore(
            policy: configuration.devices.storesAll ? .all : .latest,
            groupInterval: configuration.devices.groupInterval)
        for file in files { store.restore(file.waiting, for: DeviceID(file.device.id)) }
        state = Mutex(
            State(
                registry: DeviceRegistry(
                    devices: files.map(\.device), tokenLifetime: configuration.devices.tokenLifetime),
                store: store,
                channels: ChannelRegistry(
                    environment: configuration.environment, channels: try archive.loadChannels())))
    }

    /// Judges a push's device token.
    ///
    /// - Parameters:
    ///   - push: A push that broke no rule so far.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Why it is refused; nil where it is not.
    func refusal(for push: ValidPush, now: Int64) -> Refusal? {
        guard let content = authority.tokens.content(of: push.token) else {
            return demandsIssuedTokens ? .badDeviceToken : nil
        }
        guard content.environment == environment else { return .badDeviceToken }
        guard content.topic == push.topic else { return .deviceTokenNotForTopic }
        switch state.withLock({ $0.registry.standing(of: content, now: now) }) {
        case .active: return nil
        case .unknown: return .badDeviceToken
        case .unregistered(let time): return Refusal.unregistered.at(time)
        case .expired(let time): return Refusal.expiredToken.at(time)
        }
    }

    /// Takes a push that was answered 200 to its device, or keeps it for later.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log answered.
    ///   - payload: The payload.
    ///   - now: Milliseconds since 1970.
    func accept(_ push: ValidPush, id: MessageID, uniqueID: MessageID, payload: [UInt8], now: Int64) {
        guard let content = authority.tokens.content(of: push.token) else { return }
        let notification = StoredNotification(
            id: id, uniqueID: uniqueID, app: PushType.bundleIdentifier(of: push.topic), topic: push.topic,
            type: push.type.rawValue, priority: push.priority,
            collapseID: push.collapseID.map { String(decoding: $0, as: UTF8.self) }, acceptedAt: now,
            deadline: StoredNotification.deadline(expiration: push.expiration, now: now), payload: .init(payload))
        state.withLock { state in
            let isSilenced = state.registry.devices[content.device]?.silenced.contains(notification.app) ?? false
            let actions = state.store.accept(notification, for: content.device, isSilenced: isSilenced, now: now)
            perform(actions, &state, now: now)
        }
    }

    /// Does what the time brings: expirations and groups.
    func tick() {
        let now = clock()
        state.withLock { state in perform(state.store.tick(now: now), &state, now: now) }
    }

    /// Connects the service with the thread of the device port.
    ///
    /// - Parameters:
    ///   - port: Where that thread takes messages; nil once it has ended.
    ///   - number: The number of the port; 0 for none.
    func attach(_ port: Mailbox<DevicePortMessage>?, number: Int = 0) {
        state.withLock { state in
            state.port = port
            state.portNumber = number
        }
    }

    /// Carries out what the store decided; called with the lock held.
    ///
    /// - Parameters:
    ///   - actions: What to do, in order.
    ///   - state: Everything behind the lock.
    ///   - now: Milliseconds since 1970.
    func perform(_ actions: [NotificationStore.Action], _ state: inout State, now: Int64) {
        for action in actions {
            switch action {
            case .send(let device, let delivery):
                guard let link = state.links[device] else { continue }
                state.port?.post(.send(DeviceFrame(delivery), link: link))
            case .log(let notification, let happened, let device):
                state.log.record(happened, of: notification, for: device, now: now)
                let entry = RecentNotifications.Entry(
                    device: device, notification: notification, state: happened, time: now)
                state.recent.note(entry)
                touch(device, &state)
                if events.hasListeners { events.publish("notification", NotificationView(entry)) }
            }
        }
    }

    /// Marks a device's file as out of date; called with the lock held.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - state: Everything behind the lock.
    func touch(_ device: DeviceID, _ state: inout State) {
        if state.unsaved.isEmpty { state.port?.post(.save) }
        state.unsaved.insert(device)
    }

    /// Writes everything that is out of date; failures are told once per attempt and tried again with the next change.
    func save() {
        writing.withLock { _ in
            let (files, channels, forgotten) = state.withLock { state in
                let files = state.unsaved.compactMap { id -> DeviceArchive.DeviceFile? in
                    guard let device = state.registry.devices[id] else { return nil }
                    return DeviceArchive.DeviceFile(device: device, waiting: state.store.unsettled(for: id))
                }
                let channels = state.areChannelsUnsaved ? state.channels.all : nil
                state.unsaved = []
                state.areChannelsUnsaved = false
                let forgotten = state.forgotten
                state.forgotten = []
                return (files, channels, forgotten)
            }
            for device in forgotten { archive.remove(device) }
            do throws(SimulatorError) {
                for file in files { try archive.save(file) }
                if let channels { try archive.save(channels) }
            } catch {
                logger.error("cannot keep the devices' state", metadata: ["error": "\(error)"])
            }
        }
    }
}

extension Refusal {
    /// The same refusal with the time a device token became invalid.
    ///
    /// - Parameter time: Milliseconds since 1970.
    /// - Returns: The refusal.
    func at(_ time: Int64) -> Refusal { Refusal(status, reason, timestamp: time, retryAfter: retryAfter) }
}
