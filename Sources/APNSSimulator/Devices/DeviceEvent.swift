/// What happens to a device.
package enum DeviceEvent: Equatable, Sendable {
    /// The device has a name and a certificate now.
    case activated(device: String)
    /// The device is connected.
    case online(device: String)
    /// The device is not connected. It tries again after `retryIn` milliseconds; with nil it waits for a command.
    case offline(reason: String, retryIn: Int?)
    /// An app has its token.
    case token(app: String, topic: String, environment: String, token: String)
    /// A notification has arrived.
    case notification(DeviceFrame)
    /// The simulator has carried out a command.
    case done(String)
    /// Something failed: a request that the simulator refused, or the device's own state.
    case trouble(String)
}
