import PushModel

/// What Apple asks of one push type.
///
/// See Apple, "Sending notification requests to APNs":
/// <https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>
struct PushTypeRules {
    /// The suffix that the topic has after the bundle identifier; empty for none.
    var suffix = ""
    /// The priorities that go with the push type.
    var priorities: Set<Int> = [10, 5, 1]

    /// The push types of Apple's list.
    static let all: [String: PushTypeRules] = [
        "alert": PushTypeRules(),
        "background": PushTypeRules(priorities: [5, 1]),
        "complication": PushTypeRules(suffix: ".complication"),
        "controls": PushTypeRules(suffix: ".push-type.controls"),
        "fileprovider": PushTypeRules(suffix: ".pushkit.fileprovider"),
        "liveactivity": PushTypeRules(suffix: ".push-type.liveactivity", priorities: [10, 5]),
        "location": PushTypeRules(suffix: ".location-query", priorities: [10, 5]),
        "mdm": PushTypeRules(),
        "pushtotalk": PushTypeRules(suffix: ".voip-ptt"),
        "voip": PushTypeRules(suffix: ".voip"),
        "widgets": PushTypeRules(suffix: ".push-type.widgets"),
    ]

    /// The members of `aps` that Apple's pages name, the retired ones included.
    static let apsKeys: Set<String> = [
        "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content",
        "target-content-id", "interruption-level", "relevance-score", "filter-criteria", "stale-date", "content-state",
        "timestamp", "event", "dismissal-date", "attributes-type", "attributes", "input-push-token",
        "input-push-channel", "content-changed", "url-args", "summary-arg", "summary-arg-count", "ptt-push-type",
    ]

    /// The push type that a topic's suffix means; nil without such a suffix.
    ///
    /// - Parameter topic: The topic.
    static func type(of topic: String) -> String? {
        let bytes = Array(topic.utf8)
        return Topic.pushType(of: bytes.span).map { "\($0.text)" }
    }

    /// The suffix that a topic should have and does not have; nil where the topic is right.
    ///
    /// - Parameter topic: The topic.
    func missingSuffix(in topic: String) -> String? { suffix.isEmpty || topic.hasSuffix(suffix) ? nil : suffix }
}
