/// Base64 for URLs, without padding (RFC 4648, section 5), as JSON web tokens use it.
enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Appends the encoding of some bytes.
    static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
        output.reserveCapacity(output.count + (bytes.count * 4 + 2) / 3)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            var word = UInt32(bytes[index]) << 16
            if left > 1 { word |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { word |= UInt32(bytes[index + 2]) }
            // One byte needs two characters, two bytes need three.
            for place in 0..<min(4, left + 1) {
                output.append(alphabet.utf8Start[Int(word >> UInt32(18 - place * 6)) & 63])
            }
            index += 3
        }
    }
}
