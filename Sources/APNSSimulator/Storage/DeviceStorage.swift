import EventLoop
import Logging
import Synchronization
import Text

/// What the device side knows, in memory and on disk. Safe from any thread.
///
/// What may have to wait for a device is written down before anybody is told that it was accepted. The lock of the
/// memory is taken last, within one of the other two.
final class DeviceStorage: Sendable {
    /// Held while files of devices and broadcast channels are written, so that none is written again from older memory.
    private let writing = Mutex(())
    /// What waits and what happened, on disk.
    private let journal: Mutex<NotificationJournal>
    /// Everything, in memory.
    let state: Mutex<DeviceState>

    private let archive: DeviceArchive
    private let health: StorageHealth
    private let logger: Logger

    /// Reads what was kept.
    ///
    /// - Parameters:
    ///   - directory: The simulator's state directory.
    ///   - configuration: The simulator's configuration.
    ///   - tokens: Seals the tokens that people see.
    ///   - events: Tells those who look on.
    ///   - clock: The present, in milliseconds since 1970.
    ///   - health: Is told which files cannot be written.
    ///   - logger: Tells of files that cannot be written.
    /// - Throws: ``SimulatorError`` where kept devices, notifications or broadcast channels cannot be read.
    init(
        in directory: StateDirectory, configuration: SimulatorConfiguration, tokens: DeviceTokenCodec,
        events: EventHub, clock: () -> Int64, health: StorageHealth, logger: Logger
    ) throws(SimulatorError) {
        self.health = health
        self.logger = logger
        archive = try DeviceArchive(in: directory)
        var journal = NotificationJournal(in: directory)
        let kept = try journal.load()
        self.journal = Mutex(journal)
        var state = DeviceState(
            registry: DeviceRegistry(
                devices: try archive.load(), tokenLifetime: configuration.devices.tokenLifetime),
            store: NotificationStore(
                policy: configuration.devices.storesAll ? .all : .latest,
                groupInterval: configuration.devices.groupInterval),
            log: kept.log,
            broadcastChannels: BroadcastChannelRegistry(
                environment: configuration.environment, kept: try archive.loadBroadcastChannels()),
            tokens: tokens, events: events)
        state.restore(kept.waiting, now: clock())
        self.state = Mutex(state)
    }

    /// Takes pushes to their devices, or keeps them for later; what may have to wait is written first, all at once.
    ///
    /// - Parameter arrivals: The pushes, in order.
    /// - Returns: False where they cannot be written: then none of them was taken.
    func take(_ arrivals: [Arrival]) -> Bool {
        journal.withLock { journal in
            var lines: [UInt8] = []
            var written: UUIDBytes?
            for arrival in arrivals where arrival.isKept {
                let notification = arrival.notification
                // A broadcast is the same notification for many devices in a row.
                if written != notification.uniqueID { JournalLine.append(notification, to: &lines) }
                written = notification.uniqueID
                JournalLine.append(keeping: notification.uniqueID, for: arrival.device, to: &lines)
            }
            if !lines.isEmpty, !write(lines, to: &journal) { return false }
            // Still locked: the file written again between line and storage would have lost the line.
            let isFull = state.withLock { state in
                for arrival in arrivals { state.accept(arrival) }
                return state.unwritten.isOverLimit
            }
            if isFull { relieve(&journal) }
            return true
        }
    }

    /// Writes everything that is out of date.
    ///
    /// - Returns: Whether that worked; what was not written is written by a later call.
    @discardableResult
    func save() -> Bool {
        let isJournalWritten = journal.withLock { write([], to: &$0) }
        let areFilesWritten = writing.withLock { _ in saveFiles() }
        return isJournalWritten && areFilesWritten
    }
}

// MARK: - Files of devices and broadcast channels
extension DeviceStorage {
    /// Writes and removes the files that are out of date; called with the lock `writing` held.
    private func saveFiles() -> Bool {
        let (unsaved, devices, broadcastChannels) = state.withLock { state in
            let unsaved = state.unsaved.take()
            return (
                unsaved, unsaved.devices.compactMap { state.registry.devices[$0] },
                unsaved.areBroadcastChannelsChanged ? state.broadcastChannels.all : nil
            )
        }
        for device in unsaved.forgotten { archive.remove(device) }
        do throws(SimulatorError) {
            for device in devices { try archive.save(device) }
            if let broadcastChannels { try archive.save(broadcastChannels) }
            health.note("devices", nil)
            return true
        } catch {
            state.withLock { $0.unsaved.putBack(unsaved) }
            health.note("devices", error)
            logger.error("cannot keep the devices' state", metadata: .simulator([.error: "\(error)"]))
            return false
        }
    }
}

// MARK: - The journal; all of this is called with its lock held
extension DeviceStorage {
    /// Too much waits to be written: writes it, but does not try to write everything again at every turn.
    private func relieve(_ journal: inout NotificationJournal) {
        if !journal.isWhole, MonotonicTime.now() < journal.retryAt {
            // All of it is in memory, from which the file will be written again.
            state.withLock { $0.unwritten.dropAll() }
        } else {
            _ = write([], to: &journal)
        }
    }

    /// Writes what has happened since the last time, and then some lines.
    private func write(_ lines: [UInt8], to journal: inout NotificationJournal) -> Bool {
        do throws(SimulatorError) {
            if !journal.isWhole {
                try rewrite(&journal)
            } else if journal.isLarge {
                do throws(SimulatorError) { try rewrite(&journal) } catch { journal.postponeReplacement() }
            }
            do throws(SimulatorError) {
                try append(lines, to: &journal)
            } catch {
                // The file may be gone, and its place good.
                guard !journal.isWhole else { throw error }
                try rewrite(&journal)
                try append(lines, to: &journal)
            }
            health.note(NotificationJournal.name, nil)
            return true
        } catch {
            health.note(NotificationJournal.name, error)
            logger.error("cannot keep notifications", metadata: .simulator([.error: "\(error)"]))
            return false
        }
    }

    /// Appends what has happened and then some lines.
    private func append(_ lines: [UInt8], to journal: inout NotificationJournal) throws(SimulatorError) {
        let events = state.withLock { $0.unwritten.take() }
        do throws(SimulatorError) {
            try journal.append(events + lines)
        } catch {
            if !state.withLock({ $0.unwritten.putBack(events) }) { journal.lost() }
            throw error
        }
    }

    /// Writes everything again, as it is in memory.
    private func rewrite(_ journal: inout NotificationJournal) throws(SimulatorError) {
        let (lines, covered) = state.withLock { state in
            var lines: [UInt8] = []
            state.appendJournal(to: &lines)
            return (lines, state.unwritten.count)
        }
        do throws(SimulatorError) {
            try journal.replace(with: lines)
        } catch {
            journal.retryAt = .now().adding(nanoseconds: DeviceLoop.saveRetryDelay * 1_000_000)
            // The next attempt begins with what is in memory, so these lines have nothing to add.
            if !journal.isWhole { state.withLock { $0.unwritten.dropAll() } }
            throw error
        }
        // What happened meanwhile stands behind what the file has.
        state.withLock { $0.unwritten.dropFirst(covered) }
    }
}
