/// Hashes that are the same in every process and version. Swift's own differ from process to process.
@usableFromInline
package enum StableHash {
    /// FNV-1a with 64 bits.
    ///
    /// [The FNV hash](http://www.isthe.com/chongo/tech/comp/fnv/)
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - seed: Makes different hashes of the same bytes; 0 is FNV-1a as published.
    @inlinable
    package static func of(_ bytes: Span<UInt8>, seed: UInt64 = 0) -> UInt64 {
        var hash = 0xCBF2_9CE4_8422_2325 ^ seed
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        return hash
    }

    /// The hash of a text's UTF-8.
    package static func of(_ text: String) -> UInt64 { of(text.utf8.span) }

    /// Spreads each bit of a number over all 64 bits. FNV-1a's highest bits hardly depend on a name's last letters.
    ///
    /// This is `fmix64`, the finalizer of MurmurHash3. Different numbers stay different.
    /// [MurmurHash3](https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp)
    package static func spread(_ number: UInt64) -> UInt64 {
        var hash = number
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
