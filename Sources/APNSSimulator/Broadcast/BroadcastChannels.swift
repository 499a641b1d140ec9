import FoundationEssentials
import Synchronization
import Text

/// Creates, deletes and publishes to broadcast channels. Each change is written to disk before the client gets the
/// answer. Safe from any thread.
struct BroadcastChannels: Sendable {
    /// Holds the broadcast channels and the devices that listen to them.
    let storage: DeviceStorage

    /// Creates a broadcast channel.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier.
    ///   - isStoring: Whether the most recent message is stored.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The identifier; nil where the app has too many broadcast channels, or too many apps have some.
    /// - Throws: ``SimulatorError`` where the broadcast channel cannot be written. It then does not exist.
    func create(app: String, isStoring: Bool, now: Int64) throws(SimulatorError) -> String? {
        let identifier = storage.state.withLock { state in
            var system = SystemRandomNumberGenerator()
            let made = state.broadcastChannels.create(app: app, isStoring: isStoring, random: &system, now: now)
            if made != nil { state.unsaved.changeBroadcastChannels() }
            return made
        }
        guard let identifier else { return nil }
        guard storage.save() else {
            takeBack { $0.delete(BroadcastChannelAddress(app: app, identifier: identifier)) }
            throw SimulatorError(.file, "the new broadcast channel cannot be written")
        }
        return identifier
    }

    /// Finds a broadcast channel.
    ///
    /// - Parameter address: App and identifier.
    func find(_ address: BroadcastChannelAddress) -> BroadcastChannelRegistry.Entry? {
        storage.state.withLock { $0.broadcastChannels.broadcastChannel(address) }
    }

    /// The identifiers of an app's broadcast channels, sorted.
    ///
    /// - Parameter app: The bundle identifier.
    func identifiers(of app: String) -> [String] {
        storage.state.withLock { $0.broadcastChannels.identifiers(of: app) }
    }

    /// Deletes a broadcast channel; messages on their way to devices still arrive.
    ///
    /// - Parameter address: App and identifier.
    /// - Returns: Whether there was such a broadcast channel.
    /// - Throws: ``SimulatorError`` where the deletion cannot be written. The broadcast channel then still exists.
    func delete(_ address: BroadcastChannelAddress) throws(SimulatorError) -> Bool {
        let deleted = storage.state.withLock { state in
            let deleted = state.broadcastChannels.delete(address)
            if deleted != nil { state.unsaved.changeBroadcastChannels() }
            return deleted
        }
        guard let deleted else { return false }
        guard storage.save() else {
            takeBack { $0.restore(deleted) }
            throw SimulatorError(.file, "the end of the broadcast channel cannot be written")
        }
        return true
    }

    /// Brings a message to every device that listens. A storing broadcast channel also keeps the message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - payload: Its payload.
    ///   - broadcastChannel: The broadcast channel.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log.
    ///   - now: Milliseconds since 1970.
    /// - Returns: False where the message has to be kept but cannot be written. The listeners then do not get it.
    func publish(
        _ message: BroadcastRules.Message, payload: [UInt8], to broadcastChannel: BroadcastChannelRegistry.Entry,
        id: UUIDBytes, uniqueID: UUIDBytes, now: Int64
    ) -> Bool {
        let address = broadcastChannel.address
        let deadline =
            broadcastChannel.isStoring
            ? StoredNotification.deadline(
                expiration: message.expiration, now: now, longest: BroadcastChannelRegistry.longestStorage) : now
        let notification = StoredNotification(
            id: id, uniqueID: uniqueID, app: address.app, topic: address.app,
            broadcastChannel: address.identifier, type: GatewayPushType.liveactivity.rawValue,
            priority: message.priority, collapseID: address.identifier, acceptedAt: now, deadline: deadline,
            payload: .init(payload))
        let (listeners, former) = storage.state.withLock { state in
            let former = state.broadcastChannels.broadcastChannel(address)?.latest
            if broadcastChannel.isStoring {
                state.broadcastChannels.keep(notification, for: address)
                state.unsaved.changeBroadcastChannels()
            }
            return (state.listeners(to: address), former)
        }
        let isTaken =
            (!broadcastChannel.isStoring || storage.save())
            && storage.take(listeners.map { Arrival(notification: notification, device: $0) })
        if !isTaken, broadcastChannel.isStoring {
            takeBack { $0.takeBack(notification, for: former, at: address) }
        }
        return isTaken
    }

    /// Undoes a change that could not be written. A part of it may be in the file, so the file is written again later.
    private func takeBack(_ undo: (inout BroadcastChannelRegistry) -> Void) {
        storage.state.withLock { state in
            undo(&state.broadcastChannels)
            state.unsaved.changeBroadcastChannels()
            state.links.requestSave()
        }
    }
}
