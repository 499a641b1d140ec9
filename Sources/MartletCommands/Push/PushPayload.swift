/// The content flags of `martlet push`, and the payload they make.
///
/// See Apple, "Generating a remote notification":
/// <https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification>
/// and, for Live Activities, "Starting and updating Live Activities with ActivityKit push notifications":
/// <https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications>
struct PushPayload: Equatable {
    /// A text that is either written out or looked up in the app's languages.
    struct Wording: Equatable {
        /// The text itself.
        var text: String?
        /// The key under which the app has it.
        var key: String?
        /// The values for the placeholders of the text under the key, in order.
        var arguments: [String] = []
    }

    /// The alert's text.
    var body = Wording()
    /// The alert's title.
    var title = Wording()
    /// The alert's second line.
    var subtitle = Wording()
    /// The picture shown while the app starts.
    var launchImage: String?
    /// The number on the app's icon; 0 removes it.
    var badge: Int?
    /// The name of a sound.
    var sound: String?
    /// Whether the sound is played even where the device is silent.
    var isCritical = false
    /// How loud a critical sound is, from 0 to 1.
    var volume: Double?
    /// What groups notifications.
    var threadID: String?
    /// The category that decides the alert's buttons.
    var category: String?
    /// Whether the app is woken in the background.
    var contentAvailable = false
    /// Whether a service extension may change the notification.
    var mutableContent = false
    /// Whether a widget's content changed.
    var contentChanged = false
    /// The window that the app brings forward.
    var targetContentID: String?
    /// How far the notification may interrupt.
    var interruptionLevel: String?
    /// How far it stands out among the app's others.
    var relevanceScore: Double?
    /// What a Focus filter looks at.
    var filterCriteria: String?
    /// The values for the address that a website's push opens.
    var urlArguments: [String]?
    /// The members about a Live Activity.
    var activity = ActivityContent()
    /// The app's own members beside `aps`; each value is JSON.
    var data: [(name: String, json: [UInt8])] = []

    static func == (left: PushPayload, right: PushPayload) -> Bool {
        left.aps.map(\.0) == right.aps.map(\.0) && left.json == right.json
    }

    /// Whether no flag was given.
    var isEmpty: Bool { aps.isEmpty && data.isEmpty }

    /// The payload as JSON bytes, keys in Apple's order.
    var json: [UInt8] {
        JSON.object([("aps", .object(aps))] + data.map { ($0.name, .verbatim($0.json)) }).bytes
    }

    /// The members of `aps`.
    private var aps: [(String, JSON)] {
        var aps: [(String, JSON)] = []
        if let alert { aps.append(("alert", alert)) }
        if let badge { aps.append(("badge", .integer(Int64(badge)))) }
        // A Live Activity has its sound inside the alert.
        if !activity.isGiven, let soundValue { aps.append(("sound", soundValue)) }
        if let threadID { aps.append(("thread-id", .text(threadID))) }
        if let category { aps.append(("category", .text(category))) }
        if contentAvailable { aps.append(("content-available", .integer(1))) }
        if mutableContent { aps.append(("mutable-content", .integer(1))) }
        if contentChanged { aps.append(("content-changed", .boolean(true))) }
        if let targetContentID { aps.append(("target-content-id", .text(targetContentID))) }
        if let interruptionLevel { aps.append(("interruption-level", .text(interruptionLevel))) }
        if let relevanceScore { aps.append(("relevance-score", .number(relevanceScore))) }
        if let filterCriteria { aps.append(("filter-criteria", .text(filterCriteria))) }
        aps += activity.members
        if let urlArguments { aps.append(("url-args", .array(urlArguments.map { .text($0) }))) }
        return aps
    }

    /// A text where only the body's text is given, else a dictionary; nil without any part.
    private var alert: JSON? {
        var parts: [(String, JSON)] = []
        if activity.isGiven {
            for (name, wording) in [("title", title), ("subtitle", subtitle), ("body", body)] {
                if let value = wording.dictionary { parts.append((name, value)) }
            }
            if let launchImage { parts.append(("launch-image", .text(launchImage))) }
            if let soundValue { parts.append(("sound", soundValue)) }
        } else {
            if let text = body.text, body.key == nil, title == Wording(), subtitle == Wording(), launchImage == nil {
                return .text(text)
            }
            parts += title.members("title", keyed: "title-loc") + subtitle.members("subtitle", keyed: "subtitle-loc")
            parts += body.members("body", keyed: "loc")
            if let launchImage { parts.append(("launch-image", .text(launchImage))) }
        }
        return parts.isEmpty ? nil : .object(parts)
    }

    /// A name, or a dictionary for a critical sound.
    private var soundValue: JSON? {
        guard isCritical || volume != nil else { return sound.map { .text($0) } }
        var parts: [(String, JSON)] = [("critical", .integer(isCritical ? 1 : 0))]
        parts.append(("name", .text(sound ?? "default")))
        if let volume { parts.append(("volume", .number(volume))) }
        return .object(parts)
    }
}

extension PushPayload.Wording {
    /// The members of an ordinary alert.
    fileprivate func members(_ name: String, keyed prefix: String) -> [(String, JSON)] {
        var members: [(String, JSON)] = []
        if let text { members.append((name, .text(text))) }
        if let key { members.append(("\(prefix)-key", .text(key))) }
        if !arguments.isEmpty { members.append(("\(prefix)-args", .array(arguments.map { .text($0) }))) }
        return members
    }

    /// The value of a Live Activity's alert: the text, or a dictionary with key and arguments.
    fileprivate var dictionary: JSON? {
        guard let key else { return text.map { .text($0) } }
        var members: [(String, JSON)] = [("loc-key", .text(key))]
        if !arguments.isEmpty { members.append(("loc-args", .array(arguments.map { .text($0) }))) }
        return .object(members)
    }
}
