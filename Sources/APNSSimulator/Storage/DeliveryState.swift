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
    /// Kept, as the device is offline.
    case storedOffline = "stored: device offline"
    /// Kept, as the device saves power.
    case storedPower = "stored: device power considerations"
    /// Kept, as the device has not acknowledged earlier ones.
    case storedBusy = "stored: device busy"
    /// A newer one for the same app took its place in storage.
    case overwritten = "overwritten in storage"
    /// A newer one with the same `apns-collapse-id` took its place.
    case coalesced
    /// Not delivered before its expiration.
    case expired = "discarded: expired"
    /// The device token died first.
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
