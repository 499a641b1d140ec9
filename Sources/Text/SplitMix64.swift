/// Random numbers that a seed repeats: Sebastiano Vigna's SplitMix64, <https://prng.di.unimi.it/splitmix64.c>.
///
/// Scenarios promise the same behaviour for the same seed, so the numbers must not change.
package struct SplitMix64: RandomNumberGenerator {
    @usableFromInline internal var state: UInt64

    /// Starts at a seed.
    ///
    /// - Parameter seed: Any number.
    @inlinable
    package init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    @inlinable
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// The next number from 0 up to, not including, 1.
    @inlinable
    package mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
