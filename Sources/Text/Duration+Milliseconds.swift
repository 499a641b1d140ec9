extension Duration {
    /// The duration in milliseconds, fractions dropped.
    @inlinable
    package var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
