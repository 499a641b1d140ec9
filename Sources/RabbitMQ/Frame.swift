/// A frame as it stands on the wire (AMQP 0-9-1, 2.3.5).
struct Frame {
    /// What a frame carries.
    enum Kind: UInt8 {
        case method = 1
        case header = 2
        case body = 3
        case heartbeat = 8
    }

    /// How many bytes stand before the payload: kind, channel, size.
    static let headSize = 7
    /// How many bytes stand around the payload, the end mark included.
    static let overhead = 8
    /// The byte that ends every frame.
    static let endMark: UInt8 = 0xCE

    /// What it carries.
    var kind: Kind
    /// The channel it belongs to; 0 is the connection itself.
    var channel: UInt16
    /// The payload; valid until the next frame is read.
    var payload: UnsafeRawBufferPointer
}
