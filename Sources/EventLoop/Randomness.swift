/// Randomness that several parts draw from, each in its turn. A worker's comes from the system, a simulation's from a
/// seed. Used on one thread only.
package final class Randomness: RandomNumberGenerator {
    private var generator: any RandomNumberGenerator

    /// Randomness from a generator, the system's by default.
    ///
    /// - Parameter generator: Makes the bits.
    package init(_ generator: any RandomNumberGenerator = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    package func next() -> UInt64 { generator.next() }
}
