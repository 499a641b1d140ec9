import EventLoop
import Logging
import Synchronization

/// What is written down before anybody is told that it was accepted.
extension DeviceService {
    /// How much of what happened may wait to be written, in bytes; beyond it the whole file is written again.
    static let unwrittenLimit = 4 << 20

    /// Prepares a push that is to be answered 200.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log answered.
    ///   - payload: The payload.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to deliver; nil where the device token is not of the simulator's making.
    func arrival(
        of push: ValidPush, id: MessageID, uniqueID: MessageID, payload: [UInt8], now: Int64
    ) -> Arrival? {
        guard let content = authority.tokens.content(of: push.token) else { return nil }
        let notification = StoredNotification(
            id: id, uniqueID: uniqueID, app: GatewayPushType.bundleIdentifier(of: push.topic), topic: push.topic,
            type: push.type.rawValue, priority: push.priority,
            collapseID: push.collapseID.map { String(decoding: $0, as: UTF8.self) }, acceptedAt: now,
            deadline: StoredNotification.deadline(expiration: push.expiration, now: now), payload: .init(payload))
        return Arrival(notification: notification, device: content.device)
    }

    /// Takes pushes to their devices, or keeps them for later; what may have to wait is written first, all at once.
    ///
    /// - Parameter arrivals: The pushes, in order.
    /// - Returns: False where they cannot be written: then none of them was taken.
    func take(_ arrivals: [Arrival]) -> Bool {
        journal.withLock { journal in
            var lines: [UInt8] = []
            var written: MessageID?
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
                for arrival in arrivals {
                    let device = state.registry.devices[arrival.device]
                    let now = arrival.time ?? arrival.notification.acceptedAt
                    let actions = state.store.accept(
                        arrival.notification, for: arrival.device,
                        isSilenced: device?.silenced.contains(arrival.notification.app) ?? false, now: now)
                    perform(actions, &state, now: now)
                }
                return state.unwritten.count > Self.unwrittenLimit
            }
            if isFull { relieve(&journal) }
            return true
        }
    }

    /// Too much waits to be written: writes it, but does not try to write everything again at every turn.
    private func relieve(_ journal: inout NotificationJournal) {
        if !journal.isWhole, MonotonicTime.now() < journal.retryAt {
            // All of it is in memory, from which the file will be written again.
            state.withLock { $0.unwritten = [] }
        } else {
            _ = write([], to: &journal)
        }
    }

    /// Writes what has happened since the last time.
    ///
    /// - Returns: Whether that worked.
    func writeJournal() -> Bool { journal.withLock { write([], to: &$0) } }

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
        let events = state.withLock { state in
            let events = state.unwritten
            state.unwritten = []
            return events
        }
        do throws(SimulatorError) {
            try journal.append(events + lines)
        } catch {
            let fits = state.withLock { state in
                let fits = events.count + state.unwritten.count <= Self.unwrittenLimit
                if fits { state.unwritten = events + state.unwritten }
                return fits
            }
            if !fits { journal.lost() }
            throw error
        }
    }

    /// Writes everything again, as it is in memory.
    private func rewrite(_ journal: inout NotificationJournal) throws(SimulatorError) {
        let (lines, covered) = state.withLock { state in
            var lines: [UInt8] = []
            state.log.append(to: &lines)
            for device in state.registry.devices.keys {
                for notification in state.store.unsettled(for: device) {
                    JournalLine.append(notification, to: &lines)
                    JournalLine.append(keeping: notification.uniqueID, for: device, to: &lines)
                }
            }
            return (lines, state.unwritten.count)
        }
        do throws(SimulatorError) {
            try journal.replace(with: lines)
        } catch {
            journal.retryAt = .now().adding(nanoseconds: DeviceLoop.saveRetryDelay * 1_000_000)
            // The next attempt begins with what is in memory, so these lines have nothing to add.
            if !journal.isWhole { state.withLock { $0.unwritten = [] } }
            throw error
        }
        // What happened meanwhile stands behind what the file has.
        state.withLock { $0.unwritten.removeFirst(covered) }
    }
}
