/// Hashes of names that are the same in every process. Swift's own differ from process to process, and workers must
/// agree.
enum StableHash {
    /// FNV-1a with 64 bits.
    ///
    /// [The FNV hash](http://www.isthe.com/chongo/tech/comp/fnv/)
    static func of(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Spreads each bit of a number over all 64, because FNV-1a's highest bits hardly depend on a name's last letters.
    ///
    /// This is `fmix64`, the finalizer of MurmurHash3. Different numbers stay different.
    /// [MurmurHash3](https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp)
    static func spread(_ number: UInt64) -> UInt64 {
        var hash = number
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
