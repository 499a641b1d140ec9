import EventLoop

/// The state of the device side: the devices, the notifications for them, the delivery log and the broadcast channels.
///
/// A value without lock, clock or files. It carries out the actions of its ``NotificationStore``: notifications go to
/// the devices that are online, and events go to the log and to the listeners of the admin API. It notes which changes
/// have to be written to disk.
struct DeviceState: Sendable {
    /// The devices and their tokens.
    private(set) var registry: DeviceRegistry
    /// The notifications that wait and those on their way.
    private(set) var store: NotificationStore
    /// What happened to each notification.
    private(set) var log: DeliveryLog
    /// The newest notifications, for the admin API's page.
    private(set) var recent = RecentNotifications()
    /// The devices that are online.
    private(set) var links = DeviceLinks()
    /// The broadcast channels.
    var broadcastChannels: BroadcastChannelRegistry
    /// Lines of the journal that are not written yet.
    var unwritten = UnwrittenLines()
    /// Files that are out of date.
    var unsaved = UnsavedFiles()

    /// Seals the tokens that the admin API shows.
    let tokens: DeviceTokenCodec
    private let events: EventHub

    /// Starts with what was kept.
    ///
    /// - Parameters:
    ///   - registry: The devices.
    ///   - store: An empty store.
    ///   - log: What happened.
    ///   - broadcastChannels: The broadcast channels.
    ///   - tokens: Seals the tokens that the admin API shows.
    ///   - events: Sends events to the listeners of the admin API.
    init(
        registry: DeviceRegistry, store: NotificationStore, log: DeliveryLog,
        broadcastChannels: BroadcastChannelRegistry, tokens: DeviceTokenCodec, events: EventHub
    ) {
        self.registry = registry
        self.store = store
        self.log = log
        self.broadcastChannels = broadcastChannels
        self.tokens = tokens
        self.events = events
    }

    /// Puts back the notifications that waited or were on their way. Those for a forgotten device are dropped.
    ///
    /// - Parameters:
    ///   - waiting: The notifications of each device, in the order of the journal.
    ///   - now: Milliseconds since 1970.
    mutating func restore(_ waiting: [DeviceID: [StoredNotification]], now: Int64) {
        for (device, notifications) in waiting where registry.devices[device] != nil {
            for notification in notifications {
                recent.note(
                    RecentNotifications.Entry(
                        device: device, notification: notification, state: .storedOffline,
                        time: notification.acceptedAt))
            }
            perform(store.restore(notifications, for: device, now: now), now: now)
        }
    }

    /// Connects with the thread of the device port.
    ///
    /// - Parameters:
    ///   - port: Where that thread takes messages; nil once it has ended.
    ///   - number: The number of the port; 0 for none.
    mutating func attach(_ port: Mailbox<DevicePortMessage>?, number: Int) { links.attach(port, number: number) }

    /// Discards notifications that have expired, and sends groups that are due.
    ///
    /// - Parameter now: Milliseconds since 1970.
    mutating func tick(now: Int64) { perform(store.tick(now: now), now: now) }

    /// Sends a notification to its device, keeps it for later, or discards it.
    ///
    /// - Parameter arrival: Notification, device and time.
    mutating func accept(_ arrival: Arrival) {
        let notification = arrival.notification
        let now = arrival.time ?? notification.acceptedAt
        let isSilenced = registry.devices[arrival.device]?.silenced.contains(notification.app) ?? false
        perform(store.accept(notification, for: arrival.device, isSilenced: isSilenced, now: now), now: now)
    }

    /// Writes the whole content of the journal from the present state.
    ///
    /// - Parameter lines: Receives the lines.
    func appendJournal(to lines: inout [UInt8]) {
        log.append(to: &lines)
        for device in registry.devices.keys {
            for notification in store.unsettled(for: device) {
                JournalLine.append(notification, to: &lines)
                JournalLine.append(keeping: notification.uniqueID, for: device, to: &lines)
            }
        }
    }

    /// Carries out what the store decided.
    private mutating func perform(_ actions: [NotificationStore.Action], now: Int64) {
        for action in actions {
            switch action {
            case .send(let device, let delivery): links.send(delivery, to: device)
            case .log(let notification, let happened, let device):
                let story = log.record(happened, of: notification, for: device, now: now)
                if unwritten.isEmpty { links.requestSave() }
                unwritten.append(
                    DeliveryLog.Event(state: happened, device: device, time: now), of: notification.uniqueID,
                    beginning: story)
                let entry = RecentNotifications.Entry(
                    device: device, notification: notification, state: happened, time: now)
                recent.note(entry)
                if events.hasListeners { events.publish("notification", NotificationView(entry)) }
            }
        }
    }

    /// Notes that a device has changed, and tells the listeners of the admin API.
    private mutating func changed(_ device: DeviceID) {
        if unsaved.devices.isEmpty { links.requestSave() }
        unsaved.change(device)
        announce(device)
    }

    /// Tells the listeners of the admin API the present state of a device.
    private func announce(_ device: DeviceID) {
        guard events.hasListeners, let view = DeviceView(device, in: self) else { return }
        events.publish("device", view)
    }
}

// MARK: - What happens to a device
extension DeviceState {
    /// Makes a new device known. If the registry is full, it first forgets one device: of those offline, the one
    /// activated first. Otherwise the registry would stay full for ever.
    ///
    /// - Parameters:
    ///   - device: Its name towards the simulator.
    ///   - name: What its owner calls it.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Whether there was room.
    mutating func activate(_ device: DeviceID, name: String, now: Int64) -> Bool {
        if registry.isFull {
            let online = links
            if let oldest = registry.forgetOldest(where: { !online.contains($0) }) {
                store.forget(oldest)
                unsaved.forget(oldest)
            }
        }
        guard registry.activate(device, name: name, now: now) else { return false }
        changed(device)
        return true
    }

    /// Takes back the activation of a device that did not get its certificate.
    ///
    /// - Parameter device: The device.
    mutating func takeBackActivation(of device: DeviceID) {
        registry.forget(device)
        unsaved.forget(device)
    }

    /// A device is online from now on.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - link: Its connection.
    ///   - power: Its power state.
    ///   - answer: A frame that is sent on the connection before the first notification.
    ///   - now: Milliseconds since 1970.
    mutating func connect(_ device: DeviceID, by link: Int, power: PowerState, answer: DeviceFrame, now: Int64) {
        links.connect(device, by: link, answer: answer)
        perform(store.connected(device, power: power, now: now), now: now)
        changed(device)
    }

    /// A device's connection is over.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - link: The connection; nothing happens where it is not the device's present one.
    ///   - now: Milliseconds since 1970.
    mutating func disconnect(_ device: DeviceID, link: Int, now: Int64) {
        guard links.disconnect(device, link: link) else { return }
        perform(store.disconnected(device, now: now), now: now)
        announce(device)
    }

    /// A device has acknowledged a notification.
    ///
    /// - Parameters:
    ///   - delivery: The number of the notification's delivery.
    ///   - device: The device.
    ///   - now: Milliseconds since 1970.
    mutating func acknowledge(_ delivery: Int64, by device: DeviceID, now: Int64) {
        perform(store.acknowledged(delivery, by: device, now: now), now: now)
    }

    /// A device begins to save power, or stops saving.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - power: Its power state.
    ///   - now: Milliseconds since 1970.
    mutating func changePower(of device: DeviceID, to power: PowerState, now: Int64) {
        perform(store.powerChanged(device, to: power, now: now), now: now)
        changed(device)
    }

    /// Gives a device its token for a topic: the one that is alive, or a new one.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - topic: The topic, at most ``DeviceTokenCodec/topicLimit`` bytes.
    ///   - environment: The environment.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The registration; nil for an unknown device, and for a device with too many registrations.
    mutating func register(
        _ device: DeviceID, topic: String, environment: ServiceEnvironment, now: Int64
    ) -> DeviceRegistry.Registration? {
        let salt = (0..<DeviceTokenCodec.saltLength).map { _ in UInt8.random(in: 0...255) }
        let before = registry.devices[device]
        let made = registry.register(device, topic: topic, environment: environment, now: now, salt: salt)
        if registry.devices[device] != before { changed(device) } else { announce(device) }
        return made
    }

    /// Ends the tokens and subscriptions of one app or of all apps. Discards the notifications for them.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - app: A bundle identifier; nil for all apps.
    ///   - now: Milliseconds since 1970.
    mutating func end(_ device: DeviceID, app: String?, now: Int64) {
        let apps = app.map { [$0] } ?? Set(registry.devices[device]?.subscriptions.map(\.app) ?? [])
        let topics = registry.end(device, app: app, now: now)
        perform(store.tokensDied(device, topics: Set(topics), apps: apps), now: now)
        changed(device)
    }

    /// Switches an app's notifications on or off.
    ///
    /// - Parameters:
    ///   - app: A bundle identifier.
    ///   - isEnabled: Whether they are on.
    ///   - device: The device.
    /// - Throws: ``DeviceComplaint`` where the name is too long, or too many apps are switched off.
    mutating func setNotifications(
        of app: String, isEnabled: Bool, on device: DeviceID
    ) throws(DeviceComplaint) {
        guard app.utf8.count <= DeviceTokenCodec.topicLimit,
            isEnabled || (registry.devices[device]?.silenced.count ?? 0) < DeviceRegistry.topicLimit
        else { throw DeviceComplaint("too many apps") }
        registry.update(device) {
            if isEnabled { $0.silenced.remove(app) } else { $0.silenced.insert(app) }
        }
        changed(device)
    }

    /// Lets a device listen to a broadcast channel.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - address: App and identifier of the broadcast channel.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The most recent message of the broadcast channel, which the caller has to bring to the device. Nil
    ///   where there is no such message or the message has expired, and for a device that listened before.
    /// - Throws: ``DeviceComplaint`` where there is no such broadcast channel, or the device listens to too many.
    mutating func subscribe(
        _ device: DeviceID, to address: BroadcastChannelAddress, now: Int64
    ) throws(DeviceComplaint) -> Arrival? {
        guard let broadcastChannel = broadcastChannels.broadcastChannel(address) else {
            throw DeviceComplaint("the app has no such broadcast channel here")
        }
        let known = registry.devices[device]?.subscriptions ?? []
        guard !known.contains(address) else {
            changed(device)
            return nil
        }
        guard known.count < DeviceRegistry.subscriptionLimit else {
            throw DeviceComplaint(
                "a device listens to at most \(DeviceRegistry.subscriptionLimit) broadcast channels")
        }
        registry.update(device) { $0.subscriptions.insert(address) }
        changed(device)
        guard let message = broadcastChannel.latest, message.deadline > now else { return nil }
        return Arrival(notification: message, device: device, time: now)
    }

    /// Ends a device's subscription to a broadcast channel.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - address: App and identifier of the broadcast channel.
    mutating func unsubscribe(_ device: DeviceID, from address: BroadcastChannelAddress) {
        registry.update(device) { $0.subscriptions.remove(address) }
        changed(device)
    }

    /// The devices that listen to a broadcast channel.
    ///
    /// - Parameter address: App and identifier of the broadcast channel.
    func listeners(to address: BroadcastChannelAddress) -> [DeviceID] {
        registry.devices.filter { $0.value.subscriptions.contains(address) }.map(\.key)
    }
}
