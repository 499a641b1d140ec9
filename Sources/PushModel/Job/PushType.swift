/// The value of `apns-push-type`.
///
/// Apple's list: <https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>
package enum PushType: Sendable, Equatable {
    /// The types of Apple's list; `text` gives their spelling.
    case alert, background, complication, controls, fileProvider, liveActivity, location, mdm, pushToTalk, voip, widgets
    /// A type that this version does not know. It is sent as written, from these bytes of the job's buffer.
    case other(Range<Int>)

    /// The type these bytes name, `other` for an unknown one.
    ///
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

    /// The topic's suffix after the bundle id for this type; empty if the topic is a bare bundle id.
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
