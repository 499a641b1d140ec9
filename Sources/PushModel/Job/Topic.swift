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

    /// The push type that a topic's suffix stands for; nil for a bare bundle id.
    ///
    /// - Parameter topic: A legal topic.
    package static func pushType(of topic: Span<UInt8>) -> PushType? {
        // The last byte is examined first, which saves most topics eight comparisons.
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

extension Span where Element == UInt8 {
    /// Whether the bytes end with a constant text and have something before it.
    fileprivate func ends(with suffix: StaticString) -> Bool {
        let length = suffix.utf8CodeUnitCount
        return count > length && extracting((count - length)..<count).matches(suffix)
    }
}
