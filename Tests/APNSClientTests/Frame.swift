/// Frames made by hand (RFC 9113, 4.1 and 6).
enum Frame {
    static func make(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        announced(UInt32(payload.count), type, flags: flags, stream: stream) + payload
    }

    /// The head of a frame that claims a length.
    static func announced(_ length: UInt32, _ type: UInt8, flags: UInt8 = 0, stream: UInt32) -> [UInt8] {
        [UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type, flags] + number(stream)
    }

    static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    static func headers(_ stream: UInt32, _ block: [UInt8], ends: Bool = false) -> [UInt8] {
        make(1, flags: ends ? 5 : 4, stream: stream, block)
    }

    static func settings(_ identifier: UInt8, _ value: UInt32) -> [UInt8] { make(4, [0, identifier] + number(value)) }

    static func goAway(_ last: UInt32, debug: [UInt8] = []) -> [UInt8] { make(7, number(last) + number(0) + debug) }

    /// `:status: 200` and `apns-id`, as APNs accepts a push.
    static let status200: [UInt8] = [0x88] + apnsID
    /// `apns-id: 1`, not indexed.
    static let apnsID: [UInt8] = [0, 7] + Array("apns-id".utf8) + [1, 0x31]
    /// `:status: 103`, as a literal.
    static let status103: [UInt8] = [0x08, 3, 0x31, 0x30, 0x33]
    /// A field of 4,000 bytes that goes into the table, and 10,000 mentions of it: 40 MB in 14 kB.
    static let bomb: [UInt8] =
        status200 + [0x40, 1, 0x78, 0x7f, 0xa1, 0x1e] + [UInt8](repeating: 0x61, count: 4_000)
        + [UInt8](repeating: 0xbe, count: 10_000)
}
