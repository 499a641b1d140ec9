internal import EventLoop
import FoundationEssentials
import Synchronization

extension PushService {
    /// Whether the gateway takes messages for channels: not where they have a port of their own.
    var publishesToChannels: Bool { configuration.devices.broadcastPort == nil }
}

/// Channels and their messages.
extension DeviceService {
    /// Creates a channel, kept before anybody learns its name.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier.
    ///   - isStoring: Whether the most recent message is stored.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The identifier; nil where the app has too many channels.
    func createChannel(app: String, isStoring: Bool, now: Int64) -> String? {
        var system = SystemRandomNumberGenerator()
        let identifier = state.withLock { state in
            let made = state.channels.create(app: app, isStoring: isStoring, random: &system, now: now)
            if made != nil { state.areChannelsUnsaved = true }
            return made
        }
        save()
        return identifier
    }

    /// Finds a channel.
    ///
    /// - Parameter address: App and identifier.
    func channel(_ address: ChannelAddress) -> ChannelRegistry.Channel? {
        state.withLock { $0.channels.channel(address) }
    }

    /// The identifiers of an app's channels.
    ///
    /// - Parameter app: The bundle identifier.
    func channels(of app: String) -> [String] { state.withLock { $0.channels.identifiers(of: app) } }

    /// Deletes a channel; messages on their way to devices still arrive.
    ///
    /// - Parameter address: App and identifier.
    /// - Returns: Whether it was there.
    func deleteChannel(_ address: ChannelAddress) -> Bool {
        let isDeleted = state.withLock { state in
            let isDeleted = state.channels.delete(address)
            if isDeleted { state.areChannelsUnsaved = true }
            return isDeleted
        }
        save()
        return isDeleted
    }

    /// Brings a message to every device that listens, and keeps it where the channel stores.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - payload: Its payload.
    ///   - channel: The channel.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log.
    ///   - now: Milliseconds since 1970.
    /// - Returns: False where what has to be kept cannot be written: then no device gets the message.
    func publish(
        _ message: BroadcastRules.Message, payload: [UInt8], to channel: ChannelRegistry.Channel, id: MessageID,
        uniqueID: MessageID, now: Int64
    ) -> Bool {
        let address = channel.address
        let deadline =
            channel.isStoring
            ? StoredNotification.deadline(
                expiration: message.expiration, now: now, longest: ChannelRegistry.longestStorage) : now
        let notification = StoredNotification(
            id: id, uniqueID: uniqueID, app: address.app, topic: address.app, channel: address.channel,
            type: PushType.liveactivity.rawValue, priority: message.priority, collapseID: address.channel,
            acceptedAt: now, deadline: deadline, payload: .init(payload))
        let listeners = state.withLock { state in
            if channel.isStoring {
                state.channels.keep(notification, for: address)
                state.areChannelsUnsaved = true
            }
            return state.registry.devices.filter { $0.value.subscriptions.contains(address) }.map(\.key)
        }
        if channel.isStoring, !save() { return false }
        return take(listeners.map { Arrival(notification: notification, device: $0) })
    }

    /// Lets a device listen to a channel; called with the lock held.
    ///
    /// - Parameters:
    ///   - frame: A `subscribe` frame.
    ///   - device: The device.
    ///   - state: Everything behind the lock.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What is wrong; nil where nothing is.
    func subscribe(_ frame: DeviceFrame, _ device: DeviceID, _ state: inout State, now: Int64) -> String? {
        guard let app = frame.app, let name = frame.channel else { return "which app and channel?" }
        let address = ChannelAddress(app: app, channel: name)
        guard let channel = state.channels.channel(address) else { return "the app has no such channel here" }
        let known = state.registry.devices[device]?.subscriptions ?? []
        guard !known.contains(address) else { return nil }
        guard known.count < DeviceRegistry.subscriptionLimit else {
            return "a device listens to at most \(DeviceRegistry.subscriptionLimit) channels"
        }
        state.registry.update(device) { $0.subscriptions.insert(address) }
        if let latest = channel.latest, latest.deadline > now {
            perform(state.store.accept(latest, for: device, now: now), &state, now: now)
        }
        return nil
    }
}
