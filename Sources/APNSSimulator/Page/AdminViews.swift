import FoundationEssentials
import Synchronization

/// A device as the admin API shows it.
struct DeviceView: Encodable {
    /// A token of the device.
    struct Token: Encodable {
        /// The topic.
        var topic: String
        /// `development` or `production`.
        var environment: String
        /// Whether it takes pushes.
        var isActive: Bool
        /// Seconds since 1970 at which it was issued.
        var issuedAt: Int64
        /// Hexadecimal digits; nil for a dead one.
        var token: String?
    }

    /// Its name towards the simulator.
    var id: String
    /// What its owner calls it.
    var name: String
    /// Whether it is connected.
    var isOnline: Bool
    /// `normal` or `low`.
    var power: String
    /// Milliseconds since 1970 at which it was activated.
    var activatedAt: Int64
    /// How many notifications wait for it.
    var waiting: Int
    /// Its tokens.
    var tokens: [Token]
    /// The apps whose notifications are switched off.
    var silenced: [String]
    /// The channels it listens to.
    var channels: [String]
}

/// A notification on a device as the admin API shows it.
struct NotificationView: Encodable {
    /// The device.
    var device: String
    /// The identifier answered to the provider.
    var id: String
    /// The key of the delivery log.
    var uniqueId: String
    /// The bundle identifier.
    var app: String
    /// The topic.
    var topic: String
    /// The channel of a broadcast.
    var channel: String?
    /// The push type.
    var pushType: String
    /// 10, 5 or 1.
    var priority: Int
    /// Notifications with the same value replace each other.
    var collapseId: String?
    /// What happened last.
    var state: String
    /// When, in milliseconds since 1970.
    var time: Int64
    /// Milliseconds since 1970 at which the push was accepted.
    var acceptedAt: Int64
    /// The payload as text; bytes that are no UTF-8 become U+FFFD.
    var payload: String

    /// Describes an entry.
    ///
    /// - Parameter entry: Notification, device, state and time.
    init(_ entry: RecentNotifications.Entry) {
        let notification = entry.notification
        device = entry.device.description
        id = notification.id.description
        uniqueId = notification.uniqueID.description
        app = notification.app
        topic = notification.topic
        channel = notification.channel
        pushType = notification.type
        priority = notification.priority
        collapseId = notification.collapseID
        state = entry.state.rawValue
        time = entry.time
        acceptedAt = notification.acceptedAt
        payload = String(decoding: notification.payload, as: UTF8.self)
    }
}

/// A delivery log entry as the admin API shows it.
struct DeliveryView: Encodable {
    /// One event.
    struct Event: Encodable {
        /// What happened.
        var state: String
        /// The device it happened for.
        var device: String
        /// Milliseconds since 1970.
        var time: Int64
    }

    /// The key of the delivery log.
    var uniqueId: String
    /// The identifier answered to the provider.
    var id: String
    /// The topic.
    var topic: String
    /// What happened, in order.
    var events: [Event]

    /// Describes an entry.
    ///
    /// - Parameters:
    ///   - uniqueID: Its key.
    ///   - entry: The entry.
    init(_ uniqueID: MessageID, _ entry: DeliveryLog.Entry) {
        uniqueId = uniqueID.description
        id = entry.id.description
        topic = entry.topic
        events = entry.events.map {
            Event(state: $0.state.rawValue, device: $0.device.description, time: $0.time)
        }
    }
}

/// What the admin API asks.
extension DeviceService {
    /// Describes a device; called with the lock held.
    ///
    /// - Parameters:
    ///   - id: The device.
    ///   - state: Everything behind the lock.
    /// - Returns: Its description; nil for an unknown device.
    func view(of id: DeviceID, _ state: borrowing State) -> DeviceView? {
        guard let device = state.registry.devices[id] else { return nil }
        let presence = state.store.presence(of: id)
        let tokens = device.registrations.map { registration in
            DeviceView.Token(
                topic: registration.topic, environment: registration.environment.rawValue,
                isActive: registration.isActive, issuedAt: registration.issuedAt,
                token: registration.isActive ? try? token(of: registration, device: id) : nil)
        }
        return DeviceView(
            id: id.description, name: device.name, isOnline: presence.isOnline, power: presence.power.rawValue,
            activatedAt: device.activatedAt, waiting: state.store.unsettled(for: id).count, tokens: tokens,
            silenced: device.silenced.sorted(), channels: device.subscriptions.map(\.channel).sorted())
    }

    /// The devices activated last, in the order of their activation.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: Their descriptions.
    func views(limit: Int) -> [DeviceView] {
        state.withLock { state in
            let all = state.registry.devices.values.sorted {
                ($0.activatedAt, $0.id.high) < ($1.activatedAt, $1.id.high)
            }
            return all.suffix(limit).compactMap { view(of: DeviceID($0.id), state) }
        }
    }

    /// How many devices there are.
    var summary: OverviewView.Devices {
        state.withLock {
            OverviewView.Devices(activated: $0.registry.devices.count, online: $0.links.count, port: $0.portNumber)
        }
    }

    /// The newest notifications of a device, oldest first.
    ///
    /// - Parameter id: The device.
    /// - Returns: Their descriptions; nil for an unknown device.
    func notifications(of id: DeviceID) -> [NotificationView]? {
        state.withLock { state in
            guard state.registry.devices[id] != nil else { return nil }
            return state.recent.newest(of: id).map(NotificationView.init)
        }
    }

    /// What happened to a notification.
    ///
    /// - Parameter uniqueID: The value of `apns-unique-id`.
    /// - Returns: Its story; nil where the log has none.
    func delivery(_ uniqueID: MessageID) -> DeliveryView? {
        state.withLock { state in state.log.entry(uniqueID).map { DeliveryView(uniqueID, $0) } }
    }
}
