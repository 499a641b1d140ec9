/// The rules for collapse identifiers.
enum CollapseID {
    /// Whether the bytes may be a collapse identifier: not empty, within APNs' limit, without control characters, and
    /// without spaces at the ends. So they fit an HTTP/2 field value (RFC 9113 section 8.2.1).
    static func isLegal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 1, bytes.count <= Job.maximumCollapseIDLength, bytes[0] != 0x20,
            bytes[bytes.count - 1] != 0x20
        else { return false }
        for index in 0..<bytes.count where bytes[index] < 0x20 || bytes[index] == 0x7F { return false }
        return true
    }
}
