/// A push that was judged good, on its way to its device.
struct Arrival {
    /// The notification.
    var notification: StoredNotification
    /// The device.
    var device: DeviceID
    /// When it reaches the device, in milliseconds since 1970; nil for the time at which it was accepted.
    var time: Int64?

    /// Whether it may have to wait for the device. A notification that allows only one attempt is not kept.
    var isKept: Bool { notification.deadline > notification.acceptedAt }
}
