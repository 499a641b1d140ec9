import COpenSSL

/// SHA-1, only for version-5 UUIDs, which name things. Nothing here needs SHA-1 to be secure.
///
/// OpenSSL computes it, with the processor's own instructions for SHA-1 where it has them. A notification of a multicast
/// job has two names, and the same code in Swift took a seventh of all that such a notification costs.
///
/// FIPS 180-4: <https://csrc.nist.gov/pubs/fips/180-4/upd1/final>
package struct SHA1: Sendable {
    private var context = SHA_CTX()

    /// A fresh hash.
    package init() { copenssl_sha1_init(&context) }

    /// Hashes one more byte.
    package mutating func update(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { copenssl_sha1_update(&context, $0.baseAddress, 1) }
    }

    /// Hashes more bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        update(bytes.bytes)
    }

    /// Hashes more bytes.
    package mutating func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { copenssl_sha1_update(&context, $0.baseAddress, $0.count) }
    }

    /// Ends the hash.
    ///
    /// - Returns: The digest.
    package consuming func finish() -> InlineArray<20, UInt8> {
        var digest = InlineArray<20, UInt8>(repeating: 0)
        var bytes = digest.mutableSpan
        bytes.withUnsafeMutableBufferPointer { copenssl_sha1_final($0.baseAddress, &context) }
        return digest
    }
}
