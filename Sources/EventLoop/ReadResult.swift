/// What a read from a socket gave.
package enum ReadResult: Equatable, Sendable {
    /// So many bytes lie at the beginning of the buffer.
    case bytes(Int)
    /// Nothing is there yet.
    case wouldBlock
    /// The peer has sent all it ever will.
    case closed
}
