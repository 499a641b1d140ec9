/// The values of `apns-push-type`, with the rules for each.
///
/// See Apple, "Sending notification requests to APNs":
/// <https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>
enum GatewayPushType: String, CaseIterable {
    case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets

    /// The suffix that the topic has after the bundle identifier; empty for none.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The longest payload in bytes.
    var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Compares bytes: a comparison of text would apply the rules of Unicode and take longer.
    private func isImplied(by topic: String) -> Bool {
        let suffix = topicSuffix.utf8
        return topic.utf8.count >= suffix.count && topic.utf8.suffix(suffix.count).elementsEqual(suffix)
    }

    /// Whether a topic has the form this type asks for.
    ///
    /// A topic that ends with the suffix of a type fits only this type. APNs knows which apps exist; the simulator does
    /// not. So the simulator cannot serve an app whose bundle identifier itself ends with a suffix.
    ///
    /// - Parameter topic: The value of `apns-topic`.
    /// - Returns: Whether it fits.
    func accepts(topic: String) -> Bool {
        let implied = Self.implied(by: topic)
        return implied.topicSuffix == topicSuffix && topic.utf8.count > topicSuffix.utf8.count
    }

    /// The type that a topic's suffix stands for, for pushes without `apns-push-type`.
    ///
    /// - Parameter topic: The value of `apns-topic`.
    /// - Returns: The type, `alert` where there is no known suffix.
    static func implied(by topic: String) -> GatewayPushType {
        allCases.first { !$0.topicSuffix.isEmpty && $0.isImplied(by: topic) } ?? .alert
    }

    /// The bundle identifier in a topic: the topic without the suffix of any push type.
    ///
    /// - Parameter topic: The value of `apns-topic`.
    /// - Returns: The part before the suffix.
    static func bundleIdentifier(of topic: String) -> String {
        let suffix = implied(by: topic).topicSuffix
        return String(topic.dropLast(suffix.count))
    }
}
