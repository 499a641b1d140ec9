package import TLS
package import Text

// UUIDs that are made from a name or from the time.
extension UUIDBytes {
    /// The namespace of all names of Martlet (`Results.md`, "The same result twice"):
    /// 268fde28-cb90-48d3-9071-c4bed60c6d28.
    package static let contractNamespace = UUIDBytes(high: 0x268f_de28_cb90_48d3, low: 0x9071_c4be_d60c_6d28)

    /// The UUID that names something within a namespace (version 5, RFC 9562 section 5.5).
    package static func v5(namespace: UUIDBytes, name: Span<UInt8>) -> UUIDBytes {
        var hash = SHA1()
        hash.update(namespace)
        hash.update(name)
        return UUIDBytes(v5: hash)
    }

    /// A version-5 UUID from a hash that has taken in the namespace and the name.
    package init(v5 hash: consuming SHA1) {
        let digest = hash.finish()
        let bytes = digest.span.bytes
        let high = UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self))
        let low = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
        self.init(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x5000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// A UUID that sorts by time (version 7, RFC 9562 section 5.7).
    ///
    /// - Parameters:
    ///   - milliseconds: The time since 1970.
    ///   - random: 128 random bits, of which 74 are used.
    package static func v7(milliseconds: Int64, random: (UInt64, UInt64)) -> UUIDBytes {
        let time = UInt64(bitPattern: milliseconds) & 0xFFFF_FFFF_FFFF
        return UUIDBytes(
            high: time << 16 | 0x7000 | random.0 & 0x0FFF,
            low: random.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
