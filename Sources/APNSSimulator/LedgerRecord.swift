package import Text

/// One push as the simulator saw it.
package struct LedgerRecord: Equatable, Sendable {
    /// The device token as sent; empty where the request named none that is hexadecimal.
    package var token: String
    /// The identifier answered: the request's own, or a new one.
    package var id: UUIDBytes
    /// The topic. Empty where a refused request names none, or one that is too long or not UTF-8.
    package var topic: String
    /// The payload's length in bytes, at most ``PushSession/bodyLimit``: the gateway keeps no more.
    package var payloadBytes: Int
    /// The FNV-1a hash of the payload, as far as the gateway keeps it.
    package var payloadHash: UInt64
    /// Milliseconds since 1970 at which the request was complete.
    package var time: Int64
    /// The status answered, 200 for an answer that was lost on purpose; 0 where there was no answer.
    package var status: Int
    /// The reason, or what happened instead of or beside an answer (`silent`, `reset:…`, `goaway:…`, `close`,
    /// `answer lost: …`, `freeze`); empty for a plain 200.
    package var label: String
    /// Which connection, counted from 1.
    package var connection: Int
    /// The HTTP/2 stream.
    package var stream: Int32
}
