/// The notifications that wait for each device and those on their way, and the actions to take next.
///
/// A value without clock, lock or sockets: events and times go in, actions come out. With ``Policy/latest``, at most
/// one notification waits per device and app, as Apple says of APNs. An app is a bundle identifier. Each broadcast
/// channel of an app has a place of its own.
///
/// See Apple, "Viewing the status of push notifications using Metrics and APNs", and apns-priority and
/// apns-expiration in "Sending notification requests to APNs".
struct NotificationStore: Sendable {
    /// The two readings of Apple's text on how many notifications wait for a device that cannot take them.
    enum Policy: String, Sendable, CaseIterable {
        /// One notification per device and app or broadcast channel: the newest.
        case latest
        /// All of them, up to ``waitingLimit``.
        case all
    }

    /// An action for the caller.
    enum Action: Equatable {
        /// Send the delivery to the device.
        case send(DeviceID, Delivery)
        /// Record in the delivery log what happened to the notification at the device.
        case log(StoredNotification, DeliveryState, DeviceID)
    }

    /// A notification that the device has been sent and has not acknowledged.
    struct Delivery: Equatable, Sendable {
        /// The number by which the device acknowledges it.
        var number: Int64
        /// The notification.
        var notification: StoredNotification
    }

    /// How many notifications a device may leave unacknowledged. Further notifications wait.
    static let inFlightLimit = 100
    /// How many notifications wait for one device at most. A further one removes the oldest.
    static let waitingLimit = 1000
    /// How long priority 5 waits before a device that saves power gets it as a group, in milliseconds.
    static let groupInterval: Int64 = 60_000

    private struct Queue {
        var isOnline = false
        var power = PowerState.normal
        var waiting: [StoredNotification] = []
        var inFlight: [Delivery] = []
        var groupDueAt: Int64?

        var count: Int { waiting.count + inFlight.count }
    }

    /// Which reading is followed.
    let policy: Policy

    private let groupInterval: Int64
    private var queues: [DeviceID: Queue] = [:]
    private var nextNumber: Int64 = 1

    /// How many notifications wait or are on their way, for all devices together.
    private(set) var held = 0

    /// The earliest time at which ``tick(now:)`` has something to do, in milliseconds since 1970; nil for never.
    private(set) var nextDeadline: Int64?

    /// Starts empty.
    ///
    /// - Parameters:
    ///   - policy: Which reading is followed.
    ///   - groupInterval: How long priority 5 waits at a device that saves power, in milliseconds.
    init(policy: Policy = .latest, groupInterval: Int64 = NotificationStore.groupInterval) {
        self.policy = policy
        self.groupInterval = groupInterval
    }

    /// Puts back what was kept across a restart.
    ///
    /// - Parameters:
    ///   - notifications: The notifications that waited or were on their way, in the order of the journal.
    ///   - device: The device they are for.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in order.
    mutating func restore(_ notifications: [StoredNotification], for device: DeviceID, now: Int64) -> [Action] {
        var actions: [Action] = []
        var queue = queues[device] ?? Queue()
        for notification in notifications {
            store(notification, device, &queue, now: now, isNew: false, into: &actions)
        }
        put(queue, device)
        return actions
    }

    /// Forgets a device and its notifications.
    ///
    /// - Parameter device: The device.
    mutating func forget(_ device: DeviceID) {
        put(Queue(), device)
        queues[device] = nil
    }

    /// The notifications for a device that have to be kept: first those on their way, then those that wait. A
    /// notification on its way that allows only one attempt is left out.
    ///
    /// - Parameter device: The device.
    /// - Returns: Copies.
    func unsettled(for device: DeviceID) -> [StoredNotification] {
        guard let queue = queues[device] else { return [] }
        return queue.inFlight.map(\.notification).filter { $0.deadline > $0.acceptedAt } + queue.waiting
    }

    /// Whether a device is connected, and its power state.
    ///
    /// - Parameter device: The device.
    func presence(of device: DeviceID) -> (isOnline: Bool, power: PowerState) {
        queues[device].map { ($0.isOnline, $0.power) } ?? (false, .normal)
    }

    /// Takes a notification for a device.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - device: The device.
    ///   - isSilenced: Whether the owner has switched the app's notifications off.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in order.
    mutating func accept(
        _ notification: StoredNotification, for device: DeviceID, isSilenced: Bool = false, now: Int64
    ) -> [Action] {
        var actions: [Action] = [.log(notification, .received, device)]
        if isSilenced { return actions + [.log(notification, .disabled, device)] }
        var queue = queues[device] ?? Queue()
        defer { put(queue, device) }
        if let collapseID = notification.collapseID {
            remove(from: &queue, device, .coalesced, into: &actions) {
                $0.slot == notification.slot && $0.collapseID == collapseID
            }
        }
        if isSendable(notification, in: queue) {
            actions += send(notification, to: device, &queue)
        } else if notification.deadline <= now {
            actions.append(.log(notification, .expired, device))
        } else {
            store(notification, device, &queue, now: now, into: &actions)
        }
        return actions
    }

    /// A device has connected.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - power: Its power state.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in order.
    mutating func connected(_ device: DeviceID, power: PowerState, now: Int64) -> [Action] {
        var actions: [Action] = []
        if queues[device]?.isOnline == true { actions = disconnected(device, now: now) }
        queues[device, default: Queue()].isOnline = true
        return actions + powerChanged(device, to: power, now: now)
    }

    /// A device is gone. The notifications that it has not acknowledged wait again. Those that have expired are
    /// discarded.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in order.
    mutating func disconnected(_ device: DeviceID, now: Int64) -> [Action] {
        guard var queue = queues[device], queue.isOnline else { return [] }
        var actions: [Action] = []
        let newer = queue.waiting
        queue.isOnline = false
        queue.groupDueAt = nil
        queue.waiting = []
        for notification in queue.inFlight.map(\.notification) {
            if notification.deadline <= now {
                actions.append(.log(notification, .expired, device))
            } else {
                store(notification, device, &queue, now: now, into: &actions)
            }
        }
        queue.inFlight = []
        // The notifications that waited go in last, so that they replace those that were on their way.
        for notification in newer { store(notification, device, &queue, now: now, isNew: false, into: &actions) }
        put(queue, device)
        return actions
    }

    /// A device begins to save power, or stops saving.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - power: Its power state.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in order.
    mutating func powerChanged(_ device: DeviceID, to power: PowerState, now: Int64) -> [Action] {
        guard var queue = queues[device] else { return [] }
        queue.power = power
        queue.groupDueAt = nil
        put(queue, device)
        return flush(device, releasesGroup: false, now: now)
    }

    /// A device has acknowledged a delivery.
    ///
    /// - Parameters:
    ///   - number: The delivery's number. Nothing happens where no such delivery is on its way.
    ///   - device: The device.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in order.
    mutating func acknowledged(_ number: Int64, by device: DeviceID, now: Int64) -> [Action] {
        guard let index = queues[device]?.inFlight.firstIndex(where: { $0.number == number }),
            let delivery = queues[device]?.inFlight.remove(at: index)
        else { return [] }
        held -= 1
        return [.log(delivery.notification, .delivered, device)] + flush(device, releasesGroup: false, now: now)
    }

    /// Device tokens have died. The notifications for them are discarded.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - topics: The topics of the dead tokens.
    ///   - apps: The apps whose broadcasts are discarded, too.
    /// - Returns: What to do, in order.
    mutating func tokensDied(_ device: DeviceID, topics: Set<String>, apps: Set<String> = []) -> [Action] {
        guard var queue = queues[device] else { return [] }
        var actions: [Action] = []
        let isDead = { (notification: StoredNotification) in
            topics.contains(notification.topic)
                || (notification.broadcastChannel != nil && apps.contains(notification.app))
        }
        for delivery in queue.inFlight where isDead(delivery.notification) {
            actions.append(.log(delivery.notification, .tokenInactive, device))
        }
        queue.inFlight.removeAll { isDead($0.notification) }
        remove(from: &queue, device, .tokenInactive, into: &actions, where: isDead)
        put(queue, device)
        return actions
    }

    /// Discards waiting notifications that have expired, and sends groups that are due.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: What to do, in order; cheap before ``nextDeadline``.
    mutating func tick(now: Int64) -> [Action] {
        guard let due = nextDeadline, due <= now else { return [] }
        nextDeadline = nil
        var actions: [Action] = []
        for device in Array(queues.keys) {
            guard var queue = queues[device] else { continue }
            remove(from: &queue, device, .expired, into: &actions) { $0.deadline <= now }
            let isGroupDue = queue.groupDueAt.map { $0 <= now } ?? false
            if isGroupDue { queue.groupDueAt = nil }
            put(queue, device)
            if isGroupDue { actions += flush(device, releasesGroup: true, now: now) }
            for notification in queues[device]?.waiting ?? [] { wake(at: notification.deadline) }
            if let group = queues[device]?.groupDueAt { wake(at: group) }
        }
        return actions
    }
}

extension NotificationStore {
    private mutating func put(_ queue: Queue, _ device: DeviceID) {
        held += queue.count - (queues[device]?.count ?? 0)
        queues[device] = queue
    }

    private func isSendable(
        _ notification: StoredNotification, in queue: Queue, releasesGroup: Bool = false
    ) -> Bool {
        guard queue.isOnline, queue.inFlight.count < Self.inFlightLimit else { return false }
        return queue.power == .normal || notification.priority == 10 || (releasesGroup && notification.priority == 5)
    }

    private mutating func send(
        _ notification: StoredNotification, to device: DeviceID, _ queue: inout Queue
    ) -> [Action] {
        let delivery = Delivery(number: nextNumber, notification: notification)
        nextNumber += 1
        queue.inFlight.append(delivery)
        return [.log(notification, .sent, device), .send(device, delivery)]
    }

    private mutating func store(
        _ notification: StoredNotification, _ device: DeviceID, _ queue: inout Queue, now: Int64, isNew: Bool = true,
        into actions: inout [Action]
    ) {
        if policy == .latest {
            remove(from: &queue, device, .overwritten, into: &actions) { $0.slot == notification.slot }
        }
        if queue.waiting.count >= Self.waitingLimit {
            actions.append(.log(queue.waiting.removeFirst(), .overwritten, device))
        }
        queue.waiting.append(notification)
        wake(at: notification.deadline)
        var state = DeliveryState.storedOffline
        if queue.isOnline {
            let isHeld = queue.power == .low && notification.priority < 10
            state = isHeld ? .storedPower : .storedBusy
            if isHeld, notification.priority == 5, queue.groupDueAt == nil {
                queue.groupDueAt = now + groupInterval
                wake(at: now + groupInterval)
            }
        }
        if isNew { actions.append(.log(notification, state, device)) }
    }

    /// Discards waiting notifications that have expired, then sends those that may go, in the order of waiting.
    private mutating func flush(_ device: DeviceID, releasesGroup: Bool, now: Int64) -> [Action] {
        guard var queue = queues[device], queue.isOnline, !queue.waiting.isEmpty else { return [] }
        var actions: [Action] = []
        remove(from: &queue, device, .expired, into: &actions) { $0.deadline <= now }
        var left: [StoredNotification] = []
        for notification in queue.waiting {
            if isSendable(notification, in: queue, releasesGroup: releasesGroup) {
                actions += send(notification, to: device, &queue)
            } else {
                left.append(notification)
            }
        }
        queue.waiting = left
        if queue.power == .low, queue.groupDueAt == nil, left.contains(where: { $0.priority == 5 }) {
            queue.groupDueAt = now + groupInterval
            wake(at: now + groupInterval)
        }
        put(queue, device)
        return actions
    }

    private func remove(
        from queue: inout Queue, _ device: DeviceID, _ state: DeliveryState, into actions: inout [Action],
        where isGone: (StoredNotification) -> Bool
    ) {
        guard queue.waiting.contains(where: isGone) else { return }
        for notification in queue.waiting where isGone(notification) {
            actions.append(.log(notification, state, device))
        }
        queue.waiting.removeAll(where: isGone)
    }

    private mutating func wake(at time: Int64) { nextDeadline = min(nextDeadline ?? time, time) }
}
