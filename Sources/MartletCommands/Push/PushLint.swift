/// Warns of content that APNs or the device would refuse, drop or ignore. No warning stops a push.
///
/// See Apple, "Generating a remote notification" and "Sending notification requests to APNs":
/// <https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification>
struct PushLint {
    /// The job.
    private let draft: PushDraft
    /// The members of its payload; empty if the payload is not an object.
    private let payload: [String: JSON]
    /// The member `aps`; nil without one.
    private let aps: [String: JSON]?
    /// The push type: the given one, else the one that the worker would derive.
    private let pushType: String
    /// The share of the payload's limit above which there is a warning, in percent.
    private static let nearLimit = 90

    /// Prepares to look at a job.
    ///
    /// - Parameter draft: The job.
    init(_ draft: PushDraft) {
        self.draft = draft
        payload = (try? JSON(reading: draft.payload))?.dictionary ?? [:]
        aps = payload["aps"]?.dictionary
        let isBackground = aps.map { Array($0.keys) == ["content-available"] } ?? false
        pushType =
            draft.broadcastChannel != nil
            ? "liveactivity"
            : draft.pushType ?? PushTypeRules.type(of: draft.topic) ?? (isBackground ? "background" : "alert")
    }

    /// The warnings, each in one sentence.
    var warnings: [String] {
        guard draft.broadcastChannel?.isBroadcast ?? true else { return [] }
        return delivery + size + content + alert + interruption + background + liveActivity
    }

    /// Whether `aps` has a member of this name.
    private func has(_ name: String) -> Bool { aps?[name] != nil }

    private func text(_ name: String) -> String? { aps?[name]?.text }

    private func number(_ name: String) -> Double? { aps?[name]?.number }

    /// Push type, topic, priority and expiration.
    private var delivery: [String] {
        var warnings: [String] = []
        if let rules = PushTypeRules.all[pushType] {
            if draft.broadcastChannel == nil, let suffix = rules.missingSuffix(in: draft.topic) {
                warnings.append("the push type \(pushType) needs a topic that ends with \(suffix)")
            }
            if let other = PushTypeRules.type(of: draft.topic), other != pushType, draft.broadcastChannel == nil {
                warnings.append("the topic's suffix is that of the push type \(other), not of \(pushType)")
            }
            if let priority = draft.priority, !rules.priorities.contains(priority) {
                warnings.append("the push type \(pushType) does not go with priority \(priority)")
            }
        } else {
            warnings.append("Apple lists no push type \"\(pushType)\"; it is passed on as written")
        }
        if pushType == "pushtotalk", draft.expiration != 0 || (draft.priority ?? 10) != 10 {
            warnings.append("Apple advises priority 10 and --expiration 0 for pushtotalk")
        }
        return warnings
    }

    private var size: [String] {
        let (count, limit) = (draft.payload.count, draft.payloadLimit)
        guard count * 100 > limit * Self.nearLimit, count <= limit else { return [] }
        return ["the payload has \(count) of at most \(limit) bytes; a longer text will be refused"]
    }

    /// The members of `aps`, and the ones that are missing.
    private var content: [String] {
        if pushType == "mdm" {
            return payload["mdm"] == nil ? ["an mdm push holds the member mdm with the device's push magic"] : []
        }
        guard let aps else { return ["the payload has no aps object, so the device shows nothing"] }
        var warnings: [String] = []
        let unknown = aps.keys.filter { !PushTypeRules.apsKeys.contains($0) }.sorted()
        if !unknown.isEmpty {
            warnings.append("aps holds \(unknown.joined(separator: ", ")), which is ignored: put it beside aps")
        }
        if pushType == "alert", !has("alert"), !has("badge"), !has("sound") {
            warnings.append("an alert push without alert, badge or sound shows nothing")
        }
        if pushType == "widgets", !has("content-changed") {
            warnings.append("a widgets push needs content-changed")
        }
        return warnings
    }

    private var alert: [String] {
        var warnings: [String] = []
        let parts = aps?["alert"]?.dictionary ?? [:]
        let hasText =
            text("alert") != nil
            || ["title", "subtitle", "body", "loc-key", "title-loc-key"].contains { parts[$0] != nil }
        if has("mutable-content"), !hasText {
            warnings.append("mutable-content runs the service extension only where the alert has a text")
        }
        for prefix in ["", "title-", "subtitle-"]
        where parts["\(prefix)loc-args"] != nil && parts["\(prefix)loc-key"] == nil {
            warnings.append("\(prefix)loc-args fills a text that only \(prefix)loc-key can name")
        }
        if let badge = number("badge"), badge < 0 || badge != badge.rounded() {
            warnings.append("the badge must be a whole number from 0")
        }
        return warnings
    }

    /// Critical sounds, levels and scores.
    private var interruption: [String] {
        var warnings: [String] = []
        let sound = aps?["sound"]?.dictionary ?? aps?["alert"]?.dictionary?["sound"]?.dictionary ?? [:]
        let isCritical = sound["critical"]?.number == 1
        if isCritical || text("interruption-level") == "critical" {
            warnings.append(
                "critical alerts need the entitlement com.apple.developer.usernotifications.critical-alerts; "
                    + "without it the device plays no critical sound")
        }
        if let volume = sound["volume"]?.number {
            if !(0...1).contains(volume) { warnings.append("the volume must be from 0 to 1") }
            if !isCritical { warnings.append("the volume counts with a critical sound only") }
        }
        if let level = aps?["interruption-level"] {
            let levels = ["passive", "active", "time-sensitive", "critical"]
            if !levels.contains(level.text ?? "") {
                warnings.append("the interruption level must be \(levels.joined(separator: ", "))")
            }
        }
        if let score = number("relevance-score"), pushType != "liveactivity", !(0...1).contains(score) {
            warnings.append("the relevance score must be from 0 to 1")
        }
        return warnings
    }

    private var background: [String] {
        let shown = ["alert", "badge", "sound"].filter(has)
        if pushType == "background" {
            var warnings: [String] = []
            if !has("content-available") { warnings.append("a background push needs content-available") }
            if !shown.isEmpty {
                warnings.append("a background push must not hold \(shown.joined(separator: ", ")): use alert")
            }
            return warnings
        }
        guard has("content-available"), !shown.isEmpty else { return [] }
        return ["Apple asks for content-available alone; with \(shown.joined(separator: ", ")) the app may not wake"]
    }
}

// MARK: - Live Activities
extension PushLint {
    private var liveActivity: [String] {
        guard pushType == "liveactivity", let aps else {
            let only = ["content-state", "event", "attributes", "stale-date", "dismissal-date"].filter(has)
            return only.isEmpty ? [] : ["\(only.joined(separator: ", ")) counts with the push type liveactivity only"]
        }
        var warnings: [String] = []
        if aps["timestamp"] == nil { warnings.append("a Live Activity needs a timestamp: the newest one wins") }
        switch aps["event"]?.text {
        case "start": warnings += start
        case "update":
            if aps["content-state"] == nil { warnings.append("an update needs the content-state") }
        case "end": break
        case nil: warnings.append("a Live Activity needs an event: start, update or end")
        case let other?: warnings.append("the event \"\(other)\" is not start, update or end")
        }
        if aps["event"]?.text != "end", aps["dismissal-date"] != nil {
            warnings.append("the dismissal-date counts with the event end only")
        }
        if aps["event"]?.text != "start" {
            let only = ["attributes", "attributes-type", "input-push-token", "input-push-channel"].filter(has)
            if !only.isEmpty { warnings.append("\(only.joined(separator: ", ")) counts with the event start only") }
        }
        return warnings
    }

    private var start: [String] {
        var warnings: [String] = []
        if draft.broadcastChannel != nil { warnings.append("a broadcast cannot start an activity") }
        for name in ["attributes-type", "attributes", "content-state", "alert"] where !has(name) {
            warnings.append("a start needs \(name)")
        }
        if has("input-push-token"), has("input-push-channel") {
            warnings.append("an activity is updated by token or by broadcast channel, not by both")
        }
        return warnings
    }
}
