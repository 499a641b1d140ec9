import EventLoop
import Logging
import Synchronization

/// What the device side shares with the gateway: registry, storage, delivery log and broadcast channels. Safe from any
/// thread.
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
        var broadcastChannels: BroadcastChannelRegistry
        /// The connection of each device that is online.
        var links: [DeviceID: Int] = [:]
        /// Lines of the journal that are not written yet.
        var unwritten: [UInt8] = []
        /// Devices whose files are out of date.
        var unsaved: Set<DeviceID> = []
        /// Devices whose files are to be removed.
        var forgotten: Set<DeviceID> = []
        /// Whether the broadcast channels' file is out of date.
        var areBroadcastChannelsUnsaved = false
        /// The device port's thread; nil before it runs.
        var port: Mailbox<DevicePortMessage>?
        /// The number of the device port; 0 for none.
        var portNumber = 0
    }

    /// The environment the simulator plays.
    let environment: ServiceEnvironment
    /// Whether tokens that are not of the simulator's making are refused.
    let demandsIssuedTokens: Bool
    /// How many notifications are held for all devices together.
    let backlogLimit: Int
    /// Makes devices and tokens genuine.
    let authority: DeviceAuthority
    /// The present, in milliseconds since 1970.
    let clock: @Sendable () -> Int64
    /// Tells those who look on.
    let events = EventHub()

    /// Everything that changes.
    let state: Mutex<State>
    /// What waits and what happened, on disk.
    let journal: Mutex<NotificationJournal>
    /// Is told which files cannot be written.
    let health: StorageHealth
    /// Tells of files that cannot be written.
    let logger: Logger
    private let archive: DeviceArchive
    private let writing = Mutex(())

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
        self.health = health
        let directory = try StateDirectory(configuration.stateDirectory)
        authority = try DeviceAuthority(in: directory)
        archive = try DeviceArchive(in: directory)
        environment = configuration.environment
        demandsIssuedTokens = configuration.devices.demandsIssuedTokens
        backlogLimit = configuration.devices.backlogLimit
        self.clock = configuration.devices.clock ?? { clock.now }
        self.logger = logger
        var journal = NotificationJournal(in: directory)
        let kept = try journal.load()
        self.journal = Mutex(journal)
        state = Mutex(
            State(
                registry: DeviceRegistry(
                    devices: try archive.load(), tokenLifetime: configuration.devices.tokenLifetime),
                store: NotificationStore(
                    policy: configuration.devices.storesAll ? .all : .latest,
                    groupInterval: configuration.devices.groupInterval),
                log: kept.log,
                broadcastChannels: BroadcastChannelRegistry(
                    environment: configuration.environment, channels: try archive.loadBroadcastChannels())))
        restore(kept.waiting)
    }

    /// Puts back what waited or was on its way; what was for a device that is forgotten is gone.
    private func restore(_ waiting: [DeviceID: [StoredNotification]]) {
        let now = clock()
        state.withLock { state in
            for (device, notifications) in waiting where state.registry.devices[device] != nil {
                for notification in notifications {
                    state.recent.note(
                        RecentNotifications.Entry(
                            device: device, notification: notification, state: .storedOffline,
                            time: notification.acceptedAt))
                }
                perform(state.store.restore(notifications, for: device, now: now), &state, now: now)
            }
        }
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
        case .active: return hasRoom ? nil : .serviceUnavailable
        case .unknown: return .badDeviceToken
        case .unregistered(let time): return Refusal.unregistered.at(time)
        case .expired(let time): return Refusal.expiredToken.at(time)
        }
    }

    /// Whether the storage takes more.
    var hasRoom: Bool { state.withLock { $0.store.held < backlogLimit } }

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
                let story = state.log.record(happened, of: notification, for: device, now: now)
                if state.unwritten.isEmpty { state.port?.post(.save) }
                JournalLine.append(
                    DeliveryLog.Event(state: happened, device: device, time: now), of: notification.uniqueID,
                    beginning: story, to: &state.unwritten)
                let entry = RecentNotifications.Entry(
                    device: device, notification: notification, state: happened, time: now)
                state.recent.note(entry)
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

    /// Writes everything that is out of date.
    ///
    /// - Returns: Whether that worked; what was not written is written by a later call.
    @discardableResult
    func save() -> Bool {
        let isJournalWritten = writeJournal()
        return writing.withLock { _ in
            let (unsaved, devices, broadcastChannels, forgotten) = state.withLock { state in
                let unsaved = state.unsaved
                let broadcastChannels = state.areBroadcastChannelsUnsaved ? state.broadcastChannels.all : nil
                let forgotten = state.forgotten
                (state.unsaved, state.areBroadcastChannelsUnsaved, state.forgotten) = ([], false, [])
                return (unsaved, unsaved.compactMap { state.registry.devices[$0] }, broadcastChannels, forgotten)
            }
            for device in forgotten { archive.remove(device) }
            do throws(SimulatorError) {
                for device in devices { try archive.save(device) }
                if let broadcastChannels { try archive.save(broadcastChannels) }
                health.note("devices", nil)
                return isJournalWritten
            } catch {
                state.withLock { state in
                    state.unsaved.formUnion(unsaved)
                    if broadcastChannels != nil { state.areBroadcastChannelsUnsaved = true }
                }
                health.note("devices", error)
                logger.error("cannot keep the devices' state", metadata: .simulator([.error: "\(error)"]))
                return false
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
