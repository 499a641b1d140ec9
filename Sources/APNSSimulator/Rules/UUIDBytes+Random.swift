import Text

// The `apns-id` and the `apns-unique-id` of a push, and the names of devices.
extension UUIDBytes {
    /// Makes a random identifier (version 4, [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562)).
    ///
    /// - Parameter generator: Where the randomness comes from.
    /// - Returns: A new identifier.
    static func random(using generator: inout some RandomNumberGenerator) -> UUIDBytes {
        UUIDBytes(
            high: generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Makes an identifier that nobody can predict.
    ///
    /// - Returns: A new identifier.
    static func random() -> UUIDBytes {
        var system = SystemRandomNumberGenerator()
        return random(using: &system)
    }
}
