/// The rules for broadcast channels that can be checked without APNs.
package enum BroadcastChannel {
    /// The largest payload of a broadcast, in bytes.
    package static let payloadLimit = 5_120
    /// The longest broadcast channel identifier, in bytes. Apple gives no size; identifiers seen so far have 24 bytes.
    package static let maximumIDLength = 512
    /// The most broadcast channels that a result lists: as many as Apple allows an app in one environment.
    package static let maximumListed = 10_000

    /// Whether the bytes may be a broadcast channel's identifier: 1 to 512 of the characters of base64, in either
    /// alphabet.
    static func isLegal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 1, bytes.count <= maximumIDLength else { return false }
        for index in 0..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                continue
            default:
                return false
            }
        }
        return true
    }
}
