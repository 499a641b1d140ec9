package import TLS
package import Text

// What names are made of besides bytes.
extension SHA1 {
    /// Hashes a number as decimal text.
    package mutating func update(decimal value: Int) {
        if value < 0 { update(UInt8(ascii: "-")) }
        let magnitude = value.magnitude
        var divisor: UInt = 1
        while magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            update(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude / divisor % 10))
            divisor /= 10
        }
    }

    /// Hashes a UUID as its sixteen bytes.
    package mutating func update(_ uuid: UUIDBytes) {
        let words: [2 of UInt64] = [uuid.high.bigEndian, uuid.low.bigEndian]
        update(words.span.bytes)
    }
}
