/// The 64-bit FNV-1a hash, for fingerprints that are the same in every run.
package enum Fingerprint {
    /// Hashes bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - seed: Makes different hashes of the same bytes.
    /// - Returns: The hash.
    package static func of(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        var hash = 0xCBF2_9CE4_8422_2325 ^ seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
