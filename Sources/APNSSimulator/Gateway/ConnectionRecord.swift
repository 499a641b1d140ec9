import Synchronization

/// What one connection does, written by its thread and read for the admin API. Safe from any thread.
final class ConnectionRecord: Sendable {
    /// How many statuses are told apart. An answer with a further status is counted as a request only.
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

    /// Makes the record of a new connection.
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
    ///   - status: The status of their answers; 0 for no answer.
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
