/// What happens to a device.
package enum DeviceEvent: Equatable, Sendable {
    /// It has a name and a certificate now.
    case activated(device: String)
    /// It is connected.
    case online(device: String)
    /// It is not; tried again after so many milliseconds, or not before it is told to.
    case offline(reason: String, retryIn: Int?)
    /// An app has its token.
    case token(app: String, topic: String, environment: String, token: String)
    /// A notification has arrived.
    case notification(DeviceFrame)
    /// The simulator has done what it was told.
    case done(String)
    /// The simulator could not do what it was told.
    case trouble(String)
}
