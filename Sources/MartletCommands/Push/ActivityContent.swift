/// What a payload says about a Live Activity.
struct ActivityContent: Equatable {
    /// `start`, `update` or `end`.
    var event: String?
    /// When the content was true, in seconds since 1970; the newest wins.
    var timestamp: Int64?
    /// The app's `ContentState`, JSON.
    var contentState: [UInt8]?
    /// When the content is out of date, in seconds since 1970.
    var staleDate: Int64?
    /// When an ended activity leaves the screen, in seconds since 1970.
    var dismissalDate: Int64?
    /// The name of the attributes' type, to start with.
    var attributesType: String?
    /// The attributes to start with, JSON.
    var attributes: [UInt8]?
    /// Whether the app is to ask for a token to update the activity with.
    var inputPushToken = false
    /// The broadcast channel that a started activity listens to.
    var inputPushChannel: String?

    /// Whether any of it was given.
    var isGiven: Bool { self != ActivityContent() }

    /// The members of `aps`.
    var members: [(String, JSON)] {
        var members: [(String, JSON)] = []
        if let timestamp { members.append(("timestamp", .integer(timestamp))) }
        if let event { members.append(("event", .text(event))) }
        if let contentState { members.append(("content-state", .verbatim(contentState))) }
        if let staleDate { members.append(("stale-date", .integer(staleDate))) }
        if let dismissalDate { members.append(("dismissal-date", .integer(dismissalDate))) }
        if let attributesType { members.append(("attributes-type", .text(attributesType))) }
        if let attributes { members.append(("attributes", .verbatim(attributes))) }
        if inputPushToken { members.append(("input-push-token", .integer(1))) }
        if let inputPushChannel { members.append(("input-push-channel", .text(inputPushChannel))) }
        return members
    }
}
