/// The header of a frame, RFC 9113, 4.1.
struct RawFrame: Equatable {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let goAway: UInt8 = 7

    var type: UInt8
    var flags: UInt8
    var stream: Int

    /// Whether it is the last frame of its stream.
    var endsStream: Bool { (type == Self.data || type == Self.headers) && flags & 1 != 0 }

    /// The frames in what a peer sent, in order.
    static func all(in bytes: [UInt8]) -> [RawFrame] {
        var frames: [RawFrame] = []
        var index = 0
        while index + 9 <= bytes.count {
            let number = bytes[(index + 5)..<(index + 9)].reduce(0) { $0 << 8 | Int($1) }
            frames.append(RawFrame(type: bytes[index + 3], flags: bytes[index + 4], stream: number))
            index += 9 + bytes[index..<(index + 3)].reduce(0) { $0 << 8 | Int($1) }
        }
        return frames
    }
}
