/// A connection as the admin API shows it.
struct ConnectionView: Encodable {
    /// How often one status was answered.
    struct Answer: Encodable, Equatable {
        /// The status; 0 for no answer.
        var status: Int
        /// How often.
        var count: Int
    }

    /// Concurrent streams.
    struct Streams: Encodable, Equatable {
        /// How many are open.
        var open = 0
        /// How many the gateway allows at present.
        var allowed = 0
    }

    /// Which connection, counted from 1 as in the ledger.
    var number = 0
    /// What it is for: `pushes`, `channels` or `broadcasts`.
    var role = Gateway.Role.pushes.rawValue
    /// The client's address and port.
    var client = ""
    /// The address and port the client connected to.
    var gateway = ""
    /// Milliseconds since 1970 at which it was accepted.
    var since: Int64 = 0
    /// Whom it belongs to; nil before a good credential was seen.
    var trust: ConnectionRecord.Trust?
    /// Its streams.
    var streams = Streams()
    /// How many requests there were.
    var requests = 0
    /// How often which status was answered, in the order of first occurrence.
    var answers: [Answer] = []
    /// How long bytes are held back on the way to the client and back, in milliseconds.
    var roundTripMs = 0
}
