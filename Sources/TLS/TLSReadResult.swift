/// What a read from a TLS session gave.
package enum TLSReadResult: Equatable, Sendable {
    /// So many bytes of plaintext lie at the beginning of the buffer.
    case bytes(Int)
    /// Nothing more can be read before `receive(_:)` brings more.
    case needsInput
    /// The peer has said that it will send no more.
    case closed
}
