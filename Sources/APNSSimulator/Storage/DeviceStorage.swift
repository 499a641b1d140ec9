import EventLoop
import Logging
import Synchronization
import Text

/// The state of the device side, in memory and on disk. Safe from any thread.
///
/// A notification that may have to wait for a device is written to disk before the provider is told that it was
/// accepted. The lock of ``state`` is taken alone, or inside one of the other two locks, never outside them.
final class DeviceStorage: Sendable {
    /// Held while files of devices and broadcast channels are written. So an older state never overwrites a newer one.
    private let writing = Mutex(())
    /// The notifications that wait and the delivery log, on disk.
    private let journal: Mutex<NotificationJournal>
    /// The whole state, in memory.
    let state: Mutex<DeviceState>

    private let archive: DeviceArchive
    private let health: StorageHealth
    private let logger: Logger

    /// Reads what was kept.
    ///
    /// - Parameters:
    ///   - directory: The simulator's state directory.
    ///   - configuration: The simulator's configuration.
    ///   - tokens: Seals the tokens that the admin API shows.
    ///   - events: Sends events to the listeners of the admin API.
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

    /// Sends pushes to their devices, keeps them for later, or discards them. The pushes that may have to wait are
    /// first written, all at once.
    ///
    /// - Parameter arrivals: The pushes, in order.
    /// - Returns: False where they cannot be written. None of them is then taken.
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
            // The journal stays locked: a rewrite of the file from memory, before the store has the notification, would
            // lose its line.
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
    /// - Returns: Whether everything was written. A later call writes the rest.
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
    /// Writes the lines that wait, because they have grown beyond their limit. A file that has to be written again as a
    /// whole is not tried before ``NotificationJournal/retryAt``.
    private func relieve(_ journal: inout NotificationJournal) {
        if !journal.isWhole, MonotonicTime.now() < journal.retryAt {
            // The lines are not needed: the file will be written again from memory, which has everything.
            state.withLock { $0.unwritten.dropAll() }
        } else {
            _ = write([], to: &journal)
        }
    }

    /// Writes the events since the last write, then some lines. Writes the whole file again first if that is due.
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
                // The file may have been removed or changed while its directory can still be written.
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

    /// Appends the events since the last write, then some lines.
    private func append(_ lines: [UInt8], to journal: inout NotificationJournal) throws(SimulatorError) {
        let events = state.withLock { $0.unwritten.take() }
        do throws(SimulatorError) {
            try journal.append(events + lines)
        } catch {
            if !state.withLock({ $0.unwritten.putBack(events) }) { journal.lost() }
            throw error
        }
    }

    /// Writes the whole file again from memory.
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
            // The next attempt writes everything from memory, so these lines are not needed.
            if !journal.isWhole { state.withLock { $0.unwritten.dropAll() } }
            throw error
        }
        // The file has the lines that waited when it was composed. Lines that came later stand behind them and stay.
        state.withLock { $0.unwritten.dropFirst(covered) }
    }
}
