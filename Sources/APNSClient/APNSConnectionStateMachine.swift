import EventLoop
import PushModel

/// Decides how many requests one connection takes, and when it takes no more. Pure: sizes and times come in.
///
/// Obeys what Apple says about streams
/// (<https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>):
///
/// - One stream until SETTINGS arrive.
/// - On a connection with a provider token, one stream until a token was accepted.
/// - After that, the number that the server announced last.
struct APNSConnectionStateMachine: Sendable {
    /// How far a connection has come.
    enum Phase: Sendable, Equatable {
        /// SETTINGS have not arrived: one stream.
        case settling
        /// No answer has let the credential pass yet: one stream. An answer that does not turn the credential away ends
        /// this phase, even if it is a server error.
        case proving
        /// As many streams as the server announced, within our own limits.
        case open
        /// No new streams; the open ones finish.
        case draining
        /// Gone.
        case closed
    }

    /// Why a connection takes no more requests.
    enum Retirement: Sendable, Equatable {
        /// The server is going away.
        case goAway
        /// `strikeLimit` streams stayed without an answer within `strikeWindow`.
        case strikes
        /// `serverErrorLimit` server errors in a row.
        case serverErrors
        /// An answer that makes the connection useless.
        case answer
        /// `refusalLimit` requests were refused without an answer between them.
        case refusals
        /// Stream numbers are running out.
        case exhausted
        /// The pool wants it closed.
        case requested

        /// Whether the trouble may belong to the server at this address. Another address is then preferred.
        var isSuspicious: Bool { self == .strikes || self == .serverErrors || self == .refusals }
    }

    /// How a stream ended.
    enum StreamEnd: Sendable, Equatable {
        /// With an answer of this meaning.
        case answered(AnswerMeaning)
        /// Above GOAWAY's last stream, refused, or never written.
        case unprocessed
        /// Without an answer, or without the part of the answer that decides.
        case unanswered
    }

    /// What is known of a peer that gives no sign.
    enum Silence: Sendable, Equatable {
        /// No sign of the peer is missed.
        case none
        /// At this time a request was submitted on the idle connection. No sign came since.
        case noticed(MonotonicTime)
        /// The peer was asked by PING at this time. No sign came since.
        case asked(MonotonicTime)
        /// The peer did not answer the PING in time. No streams are opened until it gives a sign.
        case silent
    }

    /// Strikes that retire a connection when they fall into `strikeWindow`.
    static let strikeLimit = 3
    /// How long a strike counts. One silent stream a day does not justify leaving a connection.
    static let strikeWindow = Duration.seconds(600)
    /// Server errors in a row that retire a connection.
    static let serverErrorLimit = 10
    /// Refused requests without an answer between them that retire a connection.
    static let refusalLimit = 100
    /// The stream number from which on a replacement is wanted. The last possible stream number is 2^31 - 1 (RFC 9113,
    /// section 5.1.1).
    static let ageingStreamID: Int32 = .max - 400_000
    /// The stream number from which on nothing is admitted.
    static let lastStreamID: Int32 = .max - 20_000

    /// How far it has come.
    private(set) var phase = Phase.settling
    /// Why it takes no more requests; nil while it takes some.
    private(set) var retirement: Retirement?
    /// Whether another connection should take over. This connection takes requests until the other one is open, unless
    /// it was retired.
    private(set) var wantsReplacement = false
    /// Streams opened and not ended.
    private(set) var openStreams = 0
    /// Whether any request was answered on it.
    private(set) var hasAnswered = false
    /// Whether any request was accepted on it.
    private(set) var hasAccepted = false
    /// What is known of a peer that gives no sign.
    private(set) var silence = Silence.none

    /// Whether the connection begins with one stream until an answer lets its credential pass.
    private let usesToken: Bool
    /// How long the peer may give no sign.
    private let patience: SilencePatience
    /// Our own limit of streams, for memory.
    private let ownLimit: Int
    /// The number of streams that the peer announced last.
    private var peerLimit = 1
    /// The largest number of streams that the peer ever announced, up to our own limit.
    private var highestPeerLimit = 1
    /// The limit of streams after the peer refused a request; no limit before. Each answer raises it by one, up to our
    /// own limit.
    private var refusalCap = Int.max
    private var refusals = 0
    private var serverErrors = 0
    private var strikes: [MonotonicTime] = []

    /// A connection that has just been established.
    init(usesToken: Bool, ownLimit: Int, patience: SilencePatience = SilencePatience()) {
        self.patience = patience
        self.usesToken = usesToken
        self.ownLimit = ownLimit
    }

    /// Whether requests are admitted at all.
    var isAdmitting: Bool {
        switch phase {
        case .settling, .proving, .open: true
        case .draining, .closed: false
        }
    }

    /// How many streams may be open at once now. It is below `openStreams` if the limit has just become lower.
    var streamLimit: Int {
        if isSilent { return 0 }
        return switch phase {
        case .settling: 1
        case .proving: min(1, peerLimit)
        case .open: min(peerLimit, ownLimit, refusalCap)
        case .draining, .closed: 0
        }
    }

    /// Streams that may still be opened.
    var freeStreams: Int { max(0, streamLimit - openStreams) }

    /// Whether SETTINGS have not arrived or allow no stream, and no stream is open. Then no silent stream would show
    /// that the server is gone.
    var isUseless: Bool { isAdmitting && openStreams == 0 && (phase == .settling || streamLimit == 0) }

    /// Whether the peer holds us back by announcing much less than before, as APNs does after errors.
    var isThrottled: Bool { phase == .open && peerLimit < highestPeerLimit / 2 }

    /// Whether all requests have ended on a connection that takes no more.
    var isDrained: Bool { phase == .draining && openStreams == 0 }

    /// Whether a request with this many bytes of payload may be submitted now.
    ///
    /// A payload that does not fit the window would occupy a stream that other requests could use. Such a payload is
    /// admitted only if no stream is open. Otherwise a peer with a tiny window would never get a request.
    ///
    /// - Parameters:
    ///   - bytes: The payload's length.
    ///   - window: The bytes that the connection's flow-control window has left after the payloads that were submitted
    ///     before (RFC 9113, section 5.2).
    func admits(bytes: Int, window: Int) -> Bool {
        freeStreams > 0 && (bytes <= window || openStreams == 0)
    }

    /// How many requests may be submitted now, if their payloads are of the usual length.
    func capacity(window: Int, usualBytes: Int) -> Int {
        let free = freeStreams
        guard free > 0 else { return 0 }
        return min(free, max(openStreams == 0 ? 1 : 0, window / max(1, usualBytes)))
    }

    /// The peer announced settings.
    ///
    /// - Parameter maxConcurrentStreams: The number that is valid from now on.
    mutating func settingsReceived(maxConcurrentStreams: Int) {
        peerLimit = max(0, maxConcurrentStreams)
        highestPeerLimit = max(highestPeerLimit, min(peerLimit, ownLimit))
        if phase == .settling { phase = usesToken ? .proving : .open }
    }

    // MARK: Silence

    /// Whether no streams are opened until the peer gives a sign.
    var isSilent: Bool { if case .silent = silence { true } else { false } }

    /// When `silencePassed(now:)` has something to do; nil if no sign is missed.
    var silenceDue: MonotonicTime? {
        switch silence {
        case .none, .silent: nil
        case .noticed(let since): since + patience.beforeQuestion
        case .asked(let since): since + patience.beforeSilence
        }
    }

    /// Time passed.
    ///
    /// - Returns: Whether the peer is to be asked by PING now.
    mutating func silencePassed(now: MonotonicTime) -> Bool {
        guard let silenceDue, now >= silenceDue else { return false }
        guard case .noticed = silence else {
            silence = .silent
            return false
        }
        silence = .asked(now)
        return true
    }

    /// Bytes came from the peer.
    mutating func heard() { silence = .none }

    /// A request was submitted.
    mutating func submitted(streamID: Int32, now: MonotonicTime) {
        precondition(isAdmitting, "a request on a connection that is \(phase)")
        if openStreams == 0, case .none = silence { silence = .noticed(now) }
        openStreams += 1
        if streamID >= Self.ageingStreamID { wantsReplacement = true }
        if streamID >= Self.lastStreamID { retire(.exhausted) }
    }

    /// A stream ended; called once for each request.
    mutating func streamEnded(_ end: StreamEnd, now: MonotonicTime) {
        openStreams -= 1
        switch end {
        case .answered(let meaning):
            answered(meaning)
        case .unprocessed:
            guard isAdmitting else { return }
            refusals += 1
            // A refusal means that the peer counts streams differently. Open fewer until the peer answers again.
            refusalCap = max(1, openStreams)
            if refusals >= Self.refusalLimit { retire(.refusals) }
        case .unanswered:
            strike(now: now)
        }
    }

    private mutating func answered(_ meaning: AnswerMeaning) {
        hasAnswered = true
        if meaning.isAccepted { hasAccepted = true }
        refusals = 0
        if refusalCap < ownLimit { refusalCap += 1 }
        if phase == .proving, !meaning.credential.turnsAway { phase = .open }
        switch meaning.connection {
        case .keep: serverErrors = 0
        case .strike:
            serverErrors += 1
            if serverErrors >= Self.serverErrorLimit { retire(.serverErrors) }
        case .retire: retire(.answer)
        }
    }

    private mutating func strike(now: MonotonicTime) {
        strikes.removeAll { $0 + Self.strikeWindow < now }
        strikes.append(now)
        if strikes.count >= Self.strikeLimit { retire(.strikes) }
    }

    /// GOAWAY arrived. Streams above its last stream end as unprocessed. The other streams may still be answered.
    mutating func goAwayReceived() { retire(.goAway) }

    /// Takes no more requests. The first reason stays.
    mutating func retire(_ reason: Retirement) {
        guard isAdmitting else { return }
        phase = .draining
        retirement = reason
        wantsReplacement = true
    }

    /// Asks for another connection. This connection takes requests until the other one is open.
    mutating func requestReplacement() { wantsReplacement = true }

    /// Another connection is open. This connection finishes if it wanted a replacement.
    mutating func replacementOpened() {
        if wantsReplacement { retire(.requested) }
    }

    /// The connection is gone.
    mutating func closed() { phase = .closed }
}
