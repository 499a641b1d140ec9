import Synchronization
import Text

/// The views of the device side that the admin API shows.
extension DeviceService {
    /// The devices activated last, in the order of their activation.
    ///
    /// - Parameter limit: The largest number of devices.
    /// - Returns: Their descriptions.
    func views(limit: Int) -> [DeviceView] {
        storage.state.withLock { state in
            let all = state.registry.devices.values.sorted {
                ($0.activatedAt, $0.id.high) < ($1.activatedAt, $1.id.high)
            }
            return all.suffix(limit).compactMap { DeviceView(DeviceID($0.id), in: state) }
        }
    }

    /// How many devices are activated and online, and the device port.
    var summary: OverviewView.Devices {
        storage.state.withLock {
            OverviewView.Devices(
                activated: $0.registry.devices.count, online: $0.links.count, port: $0.links.portNumber)
        }
    }

    /// The newest notifications of a device, oldest first; at most 50.
    ///
    /// - Parameter id: The device.
    /// - Returns: Their descriptions; nil for an unknown device.
    func notifications(of id: DeviceID) -> [NotificationView]? {
        storage.state.withLock { state in
            guard state.registry.devices[id] != nil else { return nil }
            return state.recent.newest(of: id).map(NotificationView.init)
        }
    }

    /// What happened to a notification.
    ///
    /// - Parameter uniqueID: The value of `apns-unique-id`.
    /// - Returns: The events of the notification; nil where the log has none.
    func delivery(_ uniqueID: UUIDBytes) -> DeliveryView? {
        storage.state.withLock { state in state.log.entry(uniqueID).map { DeliveryView(uniqueID, $0) } }
    }
}
