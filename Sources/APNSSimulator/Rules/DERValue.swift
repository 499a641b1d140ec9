/// One element of DER: as much of ITU-T X.690 as a list of topics needs.
struct DERValue: Equatable {
    /// The identifier byte; long identifiers are not read.
    var tag: UInt8
    /// What is inside.
    var content: ArraySlice<UInt8>

    /// Reads the first element.
    ///
    /// - Parameter bytes: Bytes from anybody.
    /// - Returns: The element and what follows, or nil where the bytes end early or the length is not one.
    static func first(in bytes: ArraySlice<UInt8>) -> (value: DERValue, rest: ArraySlice<UInt8>)? {
        guard bytes.count >= 2, let tag = bytes.first, tag & 0x1F != 0x1F else { return nil }
        var position = bytes.startIndex + 2
        var length = Int(bytes[bytes.startIndex + 1])
        if length >= 0x80 {
            let digits = length & 0x7F
            guard (1...3).contains(digits), bytes.endIndex - position >= digits else { return nil }
            length = bytes[position..<(position + digits)].reduce(0) { $0 << 8 | Int($1) }
            position += digits
        }
        guard bytes.endIndex - position >= length else { return nil }
        return (DERValue(tag: tag, content: bytes[position..<(position + length)]), bytes[(position + length)...])
    }

    /// Writes an element.
    ///
    /// - Parameters:
    ///   - tag: The identifier byte.
    ///   - content: What is inside, less than 64 KiB.
    /// - Returns: The bytes.
    static func encode(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(count)] + content }
        if count < 0x100 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] + content
    }
}
