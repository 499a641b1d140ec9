internal import APNSClient
internal import DequeModule
internal import EventLoop
internal import PushModel

/// One of the two hosts that a route's jobs about channels go to: the one that broadcasts, or the one that manages
/// channels.
///
/// Its connection, its queue and its breaker are its own, so that whatever it suffers stops no push to a device.
final class ChannelHost {
    /// Which of the two.
    enum Kind: Int, CaseIterable, Sendable {
        /// Publishes to channels.
        case broadcast
        /// Makes, reads, lists and ends channels.
        case management

        /// The key of the configuration that says where it is.
        var setting: String { self == .broadcast ? "apns.broadcast" : "apns.channels" }
    }

    /// Which of the two it is.
    let kind: Kind
    /// Opens its connections.
    let connector: APNSConnector
    /// The connection, while there is one.
    var pool: APNSPool?
    /// Passes the pool's events on; the pool does not keep it alive.
    var events: (any APNSPoolDelegate)?
    /// Decides when the connection is opened and closed.
    var machine = ChannelHostStateMachine()
    /// Decides whether the credential is asked for here.
    var breaker = RouteBreaker()
    /// How the credential was refused here, while the breaker keeps jobs back.
    var refusal: APNSResponse?
    /// Why the host cannot be reached; nil after a success.
    var trouble: String?
    /// Jobs that were not sent yet, oldest first.
    var waiting = Deque<JobInFlight>()
    /// Requests to be sent again at once, ahead of everything else.
    var resends = Deque<Notification>()
    /// Requests whose answer is awaited, by the tag they were submitted with.
    var requests = SlotTable<Notification>()

    /// A host without a connection.
    init(kind: Kind, connector: APNSConnector) {
        self.kind = kind
        self.connector = connector
    }

    /// Whether jobs wait to be sent.
    var hasWaiting: Bool { !(waiting.isEmpty && resends.isEmpty) }

    /// Whether no request is open and nothing waits to be sent.
    var isQuiet: Bool { requests.count == 0 && !hasWaiting }

    /// Whether there is nothing to look after.
    var isAsleep: Bool { isQuiet && pool == nil }

    /// When time alone gives it something to do, in nanoseconds.
    var nextDue: UInt64? {
        let tick = breaker.nextTick
        guard let due = machine.nextDue else { return tick }
        return min(due, tick ?? due)
    }

    /// A new version of the credential was read; what the old one was refused for is forgotten once it is in use.
    func offer(_ credential: APNSCredential, now: MonotonicTime) {
        pool?.offer(credential, now: now)
        // Without a connection, the next one uses it.
        if pool == nil || pool?.credential === credential { credentialReplaced() }
    }

    /// Another version of the credential is in use: whether it is accepted is learned at once.
    func credentialReplaced() {
        refusal = nil
        breaker.credentialReplaced()
    }

    /// What keeps requests from it, in one line each.
    var troubles: [String] {
        var troubles: [String] = []
        if let refusal, breaker.state != .working {
            let reason = refusal.reason.map { ": \($0.rawValue)" } ?? ""
            troubles.append("\(kind.setting): APNs refuses the credential\(reason)")
        }
        if let trouble { troubles.append("\(kind.setting): \(trouble)") }
        return troubles
    }

    /// The next request to send: resends first, then the oldest job.
    func next() -> Notification? {
        if let resend = resends.popFirst() { return resend }
        while let job = waiting.popFirst() {
            if let index = job.nextIndex() { return Notification(job: job, index: index) }
        }
        return nil
    }

    /// Closes the connection; open requests get their answers before this returns.
    func close() {
        pool?.close()
        pool = nil
        events = nil
    }
}
