package import Text

/// SHA-1, only for version-5 UUIDs, which name things. Nothing here needs SHA-1 to be secure.
///
/// FIPS 180-4: <https://csrc.nist.gov/pubs/fips/180-4/upd1/final>
package struct SHA1: Sendable {
    private var h0: UInt32 = 0x6745_2301
    private var h1: UInt32 = 0xEFCD_AB89
    private var h2: UInt32 = 0x98BA_DCFE
    private var h3: UInt32 = 0x1032_5476
    private var h4: UInt32 = 0xC3D2_E1F0
    /// The block being filled, as big-endian words.
    private var block = InlineArray<16, UInt32>(repeating: 0)
    /// Bytes hashed so far.
    private var length = 0

    /// A fresh hash.
    package init() {}

    /// Hashes one more byte.
    @inline(__always)
    package mutating func update(_ byte: UInt8) {
        let word = (length >> 2) & 15
        block[word] = block[word] << 8 | UInt32(byte)
        length += 1
        if length & 63 == 0 { compress() }
    }

    /// Hashes more bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        var index = 0
        // Whole words are faster than bytes, but can be added only at a multiple of four bytes.
        while index < bytes.count, length & 3 != 0 {
            update(bytes[index])
            index += 1
        }
        let raw = bytes.bytes
        while index + 4 <= bytes.count {
            appendWord(UInt32(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self)))
            index += 4
        }
        while index < bytes.count {
            update(bytes[index])
            index += 1
        }
    }

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
        if length & 3 == 0 {
            appendWord(UInt32(truncatingIfNeeded: uuid.high >> 32))
            appendWord(UInt32(truncatingIfNeeded: uuid.high))
            appendWord(UInt32(truncatingIfNeeded: uuid.low >> 32))
            appendWord(UInt32(truncatingIfNeeded: uuid.low))
            return
        }
        for shift in stride(from: 56, through: 0, by: -8) { update(UInt8(truncatingIfNeeded: uuid.high >> shift)) }
        for shift in stride(from: 56, through: 0, by: -8) { update(UInt8(truncatingIfNeeded: uuid.low >> shift)) }
    }

    /// Ends the hash.
    ///
    /// - Returns: The digest's five words, first to last.
    package consuming func finish() -> (UInt32, UInt32, UInt32, UInt32, UInt32) {
        let bits = UInt64(length) << 3
        update(0x80)
        while length & 3 != 0 { update(0) }
        if (length >> 2) & 15 > 14 {
            while (length >> 2) & 15 != 0 { appendWord(0) }
        }
        while (length >> 2) & 15 != 14 { appendWord(0) }
        appendWord(UInt32(truncatingIfNeeded: bits >> 32))
        appendWord(UInt32(truncatingIfNeeded: bits))
        return (h0, h1, h2, h3, h4)
    }

    /// Fills one whole word of the block.
    private mutating func appendWord(_ word: UInt32) {
        block[(length >> 2) & 15] = word
        length += 4
        if length & 63 == 0 { compress() }
    }

    /// Mixes the full block into the state.
    private mutating func compress() {
        var words = block
        var (a, b, c, d, e) = (h0, h1, h2, h3, h4)
        for round in 0..<16 { Self.step(&a, &b, &c, &d, &e, d ^ (b & (c ^ d)), 0x5A82_7999, words[round]) }
        for round in 16..<20 {
            Self.step(&a, &b, &c, &d, &e, d ^ (b & (c ^ d)), 0x5A82_7999, Self.schedule(&words, round))
        }
        for round in 20..<40 {
            Self.step(&a, &b, &c, &d, &e, b ^ c ^ d, 0x6ED9_EBA1, Self.schedule(&words, round))
        }
        for round in 40..<60 {
            Self.step(&a, &b, &c, &d, &e, (b & c) | (d & (b | c)), 0x8F1B_BCDC, Self.schedule(&words, round))
        }
        for round in 60..<80 {
            Self.step(&a, &b, &c, &d, &e, b ^ c ^ d, 0xCA62_C1D6, Self.schedule(&words, round))
        }
        h0 &+= a
        h1 &+= b
        h2 &+= c
        h3 &+= d
        h4 &+= e
    }

    /// One round; the five variables move one place on.
    @inline(__always)
    private static func step(
        _ a: inout UInt32, _ b: inout UInt32, _ c: inout UInt32, _ d: inout UInt32, _ e: inout UInt32,
        _ mixed: UInt32, _ constant: UInt32, _ word: UInt32
    ) {
        let sum = (a << 5 | a >> 27) &+ mixed &+ e &+ constant &+ word
        (a, b, c, d, e) = (sum, a, b << 30 | b >> 2, c, d)
    }

    /// The message word of a round from 16 on, kept in a ring of sixteen.
    @inline(__always)
    private static func schedule(_ words: inout InlineArray<16, UInt32>, _ round: Int) -> UInt32 {
        let mixed = words[(round - 3) & 15] ^ words[(round - 8) & 15] ^ words[(round - 14) & 15] ^ words[round & 15]
        let word = mixed << 1 | mixed >> 31
        words[round & 15] = word
        return word
    }
}
