/// What happened to a notification, in the words of Apple's delivery log.
///
/// See Apple, "Testing notifications using the Push Notification Console".
package enum DeliveryState: String, Codable, Sendable, CaseIterable {
    /// Accepted from the provider.
    case received
    /// Sent to the device.
    case sent
    /// The device acknowledged it.
    case delivered
    /// Kept, because the device is offline.
    case storedOffline = "stored: device offline"
    /// Kept, because the device saves power.
    case storedPower = "stored: device power considerations"
    /// Kept, because the device has not acknowledged earlier notifications.
    case storedBusy = "stored: device busy"
    /// A newer notification took its place in storage: one for the same app or broadcast channel, or any other one if
    /// the device's storage was full.
    case overwritten = "overwritten in storage"
    /// A newer notification with the same `apns-collapse-id` came while it waited.
    case coalesced
    /// Not delivered before its expiration.
    case expired = "discarded: expired"
    /// The device token died before delivery.
    case tokenInactive = "discarded: token inactive"
    /// The owner has switched the app's notifications off.
    case disabled = "discarded: disabled"

    /// Whether nothing more happens to the notification at that device.
    var isFinal: Bool {
        switch self {
        case .received, .sent, .storedOffline, .storedPower, .storedBusy: false
        case .delivered, .overwritten, .coalesced, .expired, .tokenInactive, .disabled: true
        }
    }
}
