/// The alert flags of `martlet push`, and the payload they make.
///
/// See Apple, "Generating a remote notification":
/// <https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification>
struct PushPayload: Equatable {
    /// The alert's text.
    var alert: String?
    /// The alert's title.
    var title: String?
    /// The alert's second line.
    var subtitle: String?
    /// The number on the app's icon; 0 removes it.
    var badge: Int?
    /// The name of a sound.
    var sound: String?
    /// The category that decides the alert's buttons.
    var category: String?
    /// What groups notifications.
    var threadID: String?
    /// Whether the app is woken in the background.
    var contentAvailable = false
    /// Whether a service extension may change the notification.
    var mutableContent = false

    /// Whether no flag was given.
    var isEmpty: Bool { self == PushPayload() }

    /// The payload as JSON bytes, keys in Apple's order.
    var json: [UInt8] {
        var aps: [(String, JSONValue)] = []
        if title != nil || subtitle != nil {
            let parts = [("title", title), ("subtitle", subtitle), ("body", alert)]
            aps.append(("alert", .object(parts.compactMap { name, text in text.map { (name, .text($0)) } })))
        } else if let alert {
            aps.append(("alert", .text(alert)))
        }
        if let badge { aps.append(("badge", .integer(Int64(badge)))) }
        if let sound { aps.append(("sound", .text(sound))) }
        if let category { aps.append(("category", .text(category))) }
        if let threadID { aps.append(("thread-id", .text(threadID))) }
        if contentAvailable { aps.append(("content-available", .integer(1))) }
        if mutableContent { aps.append(("mutable-content", .integer(1))) }
        return JSONValue.object([("aps", .object(aps))]).bytes
    }
}
