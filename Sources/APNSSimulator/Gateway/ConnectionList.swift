import Synchronization

/// What one connection does, written by its thread and read by those who look on. Safe from any thread.
final class ConnectionRecord: Sendable {
    /// How many statuses are told apart; what comes later is counted as a request only.
    static let statusLimit = 32
    /// How many of a certificate's topics are told.
    static let topicLimit = 20

    /// Whom a connection belongs to.
    struct Trust: Encodable, Equatable {
        /// `token` or `certificate`.
        var kind: String
        /// The team of the latest good provider token.
        var teamId: String?
        /// Its key.
        var keyId: String?
        /// The topics of the certificate.
        var topics: [String]?

        /// A connection with provider tokens.
        ///
        /// - Parameter facts: The latest good one.
        init(_ facts: ProviderTokenFacts) {
            kind = "token"
            (teamId, keyId) = (facts.teamID, facts.keyID)
        }

        /// A connection with a certificate.
        ///
        /// - Parameter certificate: What the client showed.
        init(_ certificate: ClientCertificate) {
            kind = "certificate"
            topics = Array(certificate.topics.prefix(ConnectionRecord.topicLimit))
        }
    }

    private struct State {
        var trust: Trust?
        var requests = 0
        var answers: [ConnectionView.Answer] = []
    }

    private let origin: ConnectionView
    private let state = Mutex(State())
    private let open = Atomic(0)
    private let allowed = Atomic(0)

    /// Makes a record of a connection nothing has happened on.
    ///
    /// - Parameter origin: What does not change: number, addresses, time, round trip.
    init(_ origin: ConnectionView = ConnectionView()) { self.origin = origin }

    /// Notes whom the connection belongs to.
    ///
    /// - Parameter trust: What the latest good credential says.
    func belongs(to trust: Trust) { state.withLock { $0.trust = trust } }

    /// Notes how many concurrent streams were announced.
    ///
    /// - Parameter streams: How many.
    func allows(_ streams: UInt32) { allowed.store(Int(streams), ordering: .relaxed) }

    /// Notes how many streams are open.
    ///
    /// - Parameter streams: How many.
    func hasOpen(_ streams: Int) { open.store(streams, ordering: .relaxed) }

    /// Counts requests.
    ///
    /// - Parameters:
    ///   - status: What they are answered; 0 for no answer.
    ///   - count: How many.
    func answered(_ status: Int, count: Int = 1) {
        guard count > 0 else { return }
        state.withLock { state in
            state.requests += count
            if let index = state.answers.firstIndex(where: { $0.status == status }) {
                state.answers[index].count += count
            } else if state.answers.count < Self.statusLimit {
                state.answers.append(ConnectionView.Answer(status: status, count: count))
            }
        }
    }

    /// What is known at present.
    var view: ConnectionView {
        var view = origin
        view.streams.open = open.load(ordering: .relaxed)
        view.streams.allowed = allowed.load(ordering: .relaxed)
        state.withLock { (view.trust, view.requests, view.answers) = ($0.trust, $0.requests, $0.answers) }
        return view
    }
}

/// A connection as the admin API shows it.
struct ConnectionView: Encodable {
    /// How often something was answered.
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
    var role = GatewayRole.pushes.rawValue
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

/// The connections that are open, of all ports and threads. Safe from any thread.
final class ConnectionList: Sendable {
    private let records = Mutex<[Int: ConnectionRecord]>([:])

    /// Starts empty.
    init() {}

    /// Takes a new connection in.
    ///
    /// - Parameters:
    ///   - record: What it does.
    ///   - number: Which connection.
    func add(_ record: ConnectionRecord, number: Int) { records.withLock { $0[number] = record } }

    /// Forgets a connection.
    ///
    /// - Parameter number: Which connection.
    func remove(number: Int) { records.withLock { $0[number] = nil } }

    /// The connections opened last, in the order of their opening.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: Their descriptions.
    func views(limit: Int) -> [ConnectionView] {
        let newest = records.withLock { $0.sorted { $0.key < $1.key }.suffix(limit).map(\.value) }
        return newest.map(\.view)
    }
}
