@testable import HTTP2

/// Frame types and flags of RFC 9113, 6, for frames made by hand.
enum Raw {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let resetStream: UInt8 = 3
    static let settings: UInt8 = 4
    static let pushPromise: UInt8 = 5
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    /// `:status: 200` as one byte of the static table.
    static let status200: [UInt8] = [0x88]

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = UInt32(payload.count)
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type, flags]
            + number(stream) + payload
    }

    static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff), UInt8(value & 0xff)]
    }

    static func settings(_ values: [(UInt8, UInt32)]) -> [UInt8] {
        frame(settings, values.flatMap { [0, $0.0] + number($0.1) })
    }

    /// A field that is not in the static table, not indexed; both texts shorter than 127 bytes.
    static func field(_ name: String, _ value: String) -> [UInt8] {
        [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    static func goAway(lastStreamID: UInt32, code: UInt32 = 0, debugData: String = "") -> [UInt8] {
        frame(goAway, number(lastStreamID) + number(code) + Array(debugData.utf8))
    }
}
