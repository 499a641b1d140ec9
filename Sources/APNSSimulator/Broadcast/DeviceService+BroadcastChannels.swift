import EventLoop
import FoundationEssentials
import Synchronization

extension PushService {
    /// Whether the gateway takes messages for broadcast channels: not where they have a port of their own.
    var publishesToBroadcastChannels: Bool { configuration.devices.broadcastPort == nil }
}

/// Broadcast channels and their messages.
extension DeviceService {
    /// Creates a broadcast channel, kept before anybody learns its name.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier.
    ///   - isStoring: Whether the most recent message is stored.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The identifier; nil where the app has too many broadcast channels.
    /// - Throws: ``SimulatorError`` where it cannot be written: then there is no such broadcast channel.
    func createBroadcastChannel(app: String, isStoring: Bool, now: Int64) throws(SimulatorError) -> String? {
        let identifier = state.withLock { state in
            var system = SystemRandomNumberGenerator()
            let made = state.broadcastChannels.create(app: app, isStoring: isStoring, random: &system, now: now)
            if made != nil { state.areBroadcastChannelsUnsaved = true }
            return made
        }
        guard let identifier else { return nil }
        guard save() else {
            change { $0.delete(BroadcastChannelAddress(app: app, channel: identifier)) }
            throw SimulatorError(.file, "the new broadcast channel cannot be written")
        }
        return identifier
    }

    /// Finds a broadcast channel.
    ///
    /// - Parameter address: App and identifier.
    func broadcastChannel(_ address: BroadcastChannelAddress) -> BroadcastChannelRegistry.Entry? {
        state.withLock { $0.broadcastChannels.broadcastChannel(address) }
    }

    /// The identifiers of an app's broadcast channels.
    ///
    /// - Parameter app: The bundle identifier.
    func broadcastChannels(of app: String) -> [String] { state.withLock { $0.broadcastChannels.identifiers(of: app) } }

    /// Deletes a broadcast channel; messages on their way to devices still arrive.
    ///
    /// - Parameter address: App and identifier.
    /// - Returns: Whether it was there.
    /// - Throws: ``SimulatorError`` where that cannot be written: then the broadcast channel is still there.
    func deleteBroadcastChannel(_ address: BroadcastChannelAddress) throws(SimulatorError) -> Bool {
        let deleted = state.withLock { state in
            let deleted = state.broadcastChannels.delete(address)
            if deleted != nil { state.areBroadcastChannelsUnsaved = true }
            return deleted
        }
        guard let deleted else { return false }
        guard save() else {
            change { $0.restore(deleted) }
            throw SimulatorError(.file, "the end of the broadcast channel cannot be written")
        }
        return true
    }

    /// Takes back what could not be written; where a part of it was, a later call writes the file again.
    private func change(_ undo: (inout BroadcastChannelRegistry) -> Void) {
        state.withLock { state in
            undo(&state.broadcastChannels)
            state.areBroadcastChannelsUnsaved = true
            state.port?.post(.save)
        }
    }

    /// Brings a message to every device that listens, and keeps it where the broadcast channel stores.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - payload: Its payload.
    ///   - channel: The broadcast channel.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log.
    ///   - now: Milliseconds since 1970.
    /// - Returns: False where what has to be kept cannot be written: then no device gets the message.
    func publish(
        _ message: BroadcastRules.Message, payload: [UInt8], to channel: BroadcastChannelRegistry.Entry, id: MessageID,
        uniqueID: MessageID, now: Int64
    ) -> Bool {
        let address = channel.address
        let deadline =
            channel.isStoring
            ? StoredNotification.deadline(
                expiration: message.expiration, now: now, longest: BroadcastChannelRegistry.longestStorage) : now
        let notification = StoredNotification(
            id: id, uniqueID: uniqueID, app: address.app, topic: address.app,
            broadcastChannel: address.channel, type: GatewayPushType.liveactivity.rawValue, priority: message.priority,
            collapseID: address.channel, acceptedAt: now, deadline: deadline, payload: .init(payload))
        let (listeners, former) = state.withLock { state in
            let former = state.broadcastChannels.broadcastChannel(address)?.latest
            if channel.isStoring {
                state.broadcastChannels.keep(notification, for: address)
                state.areBroadcastChannelsUnsaved = true
            }
            return (state.registry.devices.filter { $0.value.subscriptions.contains(address) }.map(\.key), former)
        }
        let isTaken =
            (!channel.isStoring || save()) && take(listeners.map { Arrival(notification: notification, device: $0) })
        if !isTaken, channel.isStoring { change { $0.takeBack(notification, for: former, at: address) } }
        return isTaken
    }

    /// Lets a device listen to a broadcast channel; called with the lock held.
    ///
    /// - Parameters:
    ///   - frame: A `subscribe` frame.
    ///   - device: The device.
    ///   - state: Everything behind the lock.
    ///   - latest: Receives the message the broadcast channel has for who comes late, to be taken once the lock is
    ///     free.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What is wrong; nil where nothing is.
    func subscribe(
        _ frame: DeviceFrame, _ device: DeviceID, _ state: inout State, latest: inout Arrival?, now: Int64
    ) -> String? {
        guard let app = frame.app, let name = frame.broadcastChannel else { return "which app and broadcast channel?" }
        let address = BroadcastChannelAddress(app: app, channel: name)
        guard let channel = state.broadcastChannels.broadcastChannel(address) else {
            return "the app has no such broadcast channel here"
        }
        let known = state.registry.devices[device]?.subscriptions ?? []
        guard !known.contains(address) else { return nil }
        guard known.count < DeviceRegistry.subscriptionLimit else {
            return "a device listens to at most \(DeviceRegistry.subscriptionLimit) broadcast channels"
        }
        state.registry.update(device) { $0.subscriptions.insert(address) }
        if let message = channel.latest, message.deadline > now {
            latest = Arrival(notification: message, device: device, time: now)
        }
        return nil
    }

    /// Lets a device no longer listen to the broadcast channel of a message that could not be kept for it.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - message: The message.
    func unsubscribe(_ device: DeviceID, from message: StoredNotification) {
        guard let channel = message.broadcastChannel else { return }
        state.withLock { state in
            state.registry.update(device) {
                $0.subscriptions.remove(BroadcastChannelAddress(app: message.app, channel: channel))
            }
            touch(device, &state)
            publish(device, state)
        }
    }
}
