package import Text

/// One push as the simulator saw it.
package struct LedgerRecord: Equatable, Sendable {
    /// The device token as sent; empty where the request named none that is hexadecimal.
    package var token: String
    /// The identifier answered: the request's own, or a new one.
    package var id: UUIDBytes
    /// The topic; empty where the request was refused before it was known.
    package var topic: String
    /// The payload's length in bytes.
    package var payloadBytes: Int
    /// The FNV-1a hash of the payload.
    package var payloadHash: UInt64
    /// Milliseconds since 1970 at which the request was complete.
    package var time: Int64
    /// The status answered; 0 where there was no answer.
    package var status: Int
    /// The reason, or what happened instead of an answer (`silent`, `reset:…`, `goaway:…`, `close`); empty for 200.
    package var label: String
    /// Which connection, counted from 1.
    package var connection: Int
    /// The HTTP/2 stream.
    package var stream: Int32
}
