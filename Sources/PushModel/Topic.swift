/// The rules for APNs topics: a bundle id, with a suffix for some push types.
package enum Topic {
    /// The longest topic, in bytes.
    package static let maximumLength = 200

    /// The suffixes that topics of one app may carry beside the bare bundle id.
    package static let suffixes: [StaticString] = [
        ".voip", ".complication", ".voip-ptt", ".location-query", ".pushkit.fileprovider", ".push-type.liveactivity",
        ".push-type.widgets", ".push-type.controls",
    ]

    /// Whether the bytes may be a topic: 1 to 200 of `[A-Za-z0-9.-]`.
    package static func isLegal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 1, bytes.count <= maximumLength else { return false }
        for index in 0..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                continue
            default:
                return false
            }
        }
        return true
    }

    /// The push type that a topic's suffix stands for, nil for a bare bundle id.
    /// - Parameter topic: A legal topic.
    package static func pushType(of topic: Span<UInt8>) -> PushType? {
        // One look at the last byte spares most topics eight comparisons.
        switch topic.count > 5 ? topic[topic.count - 1] : 0 {
        case UInt8(ascii: "p"): topic.ends(with: ".voip") ? .voip : nil
        case UInt8(ascii: "n"): topic.ends(with: ".complication") ? .complication : nil
        case UInt8(ascii: "t"): topic.ends(with: ".voip-ptt") ? .pushToTalk : nil
        case UInt8(ascii: "y"):
            topic.ends(with: ".location-query")
                ? .location : topic.ends(with: ".push-type.liveactivity") ? .liveActivity : nil
        case UInt8(ascii: "r"): topic.ends(with: ".pushkit.fileprovider") ? .fileProvider : nil
        case UInt8(ascii: "s"):
            topic.ends(with: ".push-type.widgets")
                ? .widgets : topic.ends(with: ".push-type.controls") ? .controls : nil
        default: nil
        }
    }
}

/// The value of `apns-push-type`.
///
/// Apple's list: <https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>
package enum PushType: Sendable, Equatable {
    /// The types of Apple's list; `text` gives their spelling.
    case alert, background, complication, controls, fileProvider, liveActivity, location, mdm, pushToTalk, voip, widgets
    /// A type this version does not know; it is sent as written, from these bytes of the job's buffer.
    case other(Range<Int>)

    /// The type these bytes name, `other` for an unknown one.
    /// - Parameters:
    ///   - range: Where the value stands in `bytes`.
    ///   - bytes: The buffer.
    package init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let value = bytes.extracting(range)
        for candidate in Self.known where value.count == candidate.text.utf8CodeUnitCount {
            if value.matches(candidate.text) {
                self = candidate
                return
            }
        }
        self = .other(range)
    }

    /// The known types, the commonest first.
    private static let known: [PushType] = [
        .alert, .background, .voip, .liveActivity, .complication, .controls, .fileProvider, .location, .mdm,
        .pushToTalk, .widgets,
    ]

    /// The text of a known type; empty for `other`, whose text stands in the job's buffer.
    package var text: StaticString {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .complication: "complication"
        case .controls: "controls"
        case .fileProvider: "fileprovider"
        case .liveActivity: "liveactivity"
        case .location: "location"
        case .mdm: "mdm"
        case .pushToTalk: "pushtotalk"
        case .voip: "voip"
        case .widgets: "widgets"
        case .other: ""
        }
    }

    /// What the topic carries after the bundle id for this type; empty for a bare bundle id.
    package var topicSuffix: StaticString {
        switch self {
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileProvider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushToTalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        case .alert, .background, .mdm, .other: ""
        }
    }

    /// Whether this version knows the type.
    package var isKnown: Bool {
        if case .other = self { return false }
        return true
    }

    /// The largest payload to one device, in bytes.
    package var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Whether bytes may be a push type at all: 1 to 64 of `[A-Za-z0-9._-]`, so that they fit a header field.
    static func isLegal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 1, bytes.count <= 64 else { return false }
        for index in 0..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                continue
            default:
                return false
            }
        }
        return true
    }
}

extension Span where Element == UInt8 {
    /// Whether the bytes end with a constant text and have something before it.
    fileprivate func ends(with suffix: StaticString) -> Bool {
        let length = suffix.utf8CodeUnitCount
        return count > length && extracting((count - length)..<count).matches(suffix)
    }
}
