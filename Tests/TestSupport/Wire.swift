/// Writes AMQP 0-9-1 by hand, so that the readers are tested against something other than themselves.
package struct Wire {
    package var bytes: [UInt8] = []

    package init() {}
    package init(_ build: (inout Wire) -> Void) { build(&self) }

    package mutating func u8(_ value: UInt8) { bytes.append(value) }
    package mutating func u16(_ value: UInt16) { number(value) }
    package mutating func u32(_ value: UInt32) { number(value) }
    package mutating func u64(_ value: UInt64) { number(value) }
    package mutating func number(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
    package mutating func raw(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
    package mutating func short(_ text: String) {
        u8(UInt8(text.utf8.count))
        raw(text.utf8)
    }
    package mutating func long(_ content: some Collection<UInt8>) {
        u32(UInt32(content.count))
        raw(content)
    }
    package mutating func field(_ name: String, _ kind: Character, _ value: (inout Wire) -> Void = { _ in }) {
        short(name)
        u8(kind.asciiValue ?? 0)
        value(&self)
    }

    /// One header table entry holding `levels` tables inside each other.
    package static func nestedTable(levels: Int) -> [UInt8] {
        // Built from the outside in: each level is a name of one byte, its kind and the length of what follows.
        var wire = Wire()
        for level in 0..<levels {
            wire.field("n", "F") { $0.u32(UInt32((levels - level - 1) * 7)) }
        }
        return wire.bytes
    }

    /// A frame around a payload.
    package static func frame(_ type: UInt8, _ channel: UInt16, _ payload: [UInt8]) -> [UInt8] {
        Wire {
            $0.u8(type)
            $0.u16(channel)
            $0.long(payload)
            $0.u8(0xCE)
        }.bytes
    }

    /// A method frame.
    package static func method(
        _ channel: UInt16, _ classID: UInt16, _ methodID: UInt16, _ arguments: (inout Wire) -> Void = { _ in }
    ) -> [UInt8] {
        frame(
            1, channel,
            Wire {
                $0.u16(classID)
                $0.u16(methodID)
                arguments(&$0)
            }.bytes)
    }

    /// A content header frame.
    package static func header(_ channel: UInt16, bodySize: UInt64, properties: [UInt8] = [0, 0]) -> [UInt8] {
        frame(
            2, channel,
            Wire {
                $0.u16(60)
                $0.u16(0)
                $0.u64(bodySize)
                $0.raw(properties)
            }.bytes)
    }

    /// A body frame.
    package static func body(_ channel: UInt16, _ bytes: [UInt8]) -> [UInt8] { frame(3, channel, bytes) }

    /// A basic.deliver frame.
    package static func deliver(
        _ channel: UInt16, tag: UInt64, redelivered: Bool = false, exchange: String = "x", key: String = "k"
    ) -> [UInt8] {
        method(channel, 60, 60) {
            $0.short("consumer")
            $0.u64(tag)
            $0.u8(redelivered ? 1 : 0)
            $0.short(exchange)
            $0.short(key)
        }
    }
}

extension Wire {
    /// The three answers that a client waits for while it logs in, which may as well be sent before the questions.
    package static func welcome(channelMax: UInt16 = 64, frameMax: UInt32 = 131_072, heartbeat: UInt16 = 60) -> [UInt8]
    {
        method(0, 10, 10) {
            $0.u8(0)
            $0.u8(9)
            $0.long([])
            $0.long(Array("PLAIN EXTERNAL".utf8))
            $0.long(Array("en_US".utf8))
        }
            + method(0, 10, 30) {
                $0.u16(channelMax)
                $0.u32(frameMax)
                $0.u16(heartbeat)
            }
            + method(0, 10, 41) { $0.short("") }
    }
}
