import Synchronization

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
