import APNSClient
import EventLoop
import PushModel
import WorkerSettings

/// One host that a route's requests go to, and the jobs that wait for it. A route has one for devices, and up to two
/// more for jobs about broadcast channels.
///
/// A destination has connections, a queue and a breaker of its own, so that its troubles stop no other destination. The
/// first job opens its connections. The connections are closed after a rest.
///
/// - A job for devices that cannot be sent waits, and the route stops consuming.
/// - A job about broadcast channels that its host cannot take goes to a retry tier, because it shares its queue with
///   pushes.
final class Destination {
    /// The three hosts that a route may have.
    enum Kind: Int, CaseIterable, Sendable {
        /// Takes pushes to devices.
        case devices
        /// Publishes to broadcast channels.
        case broadcast
        /// Makes, reads, lists and ends broadcast channels.
        case management

        /// The host that carries an operation out.
        init(_ operation: BroadcastChannelOperation) {
            self = operation == .push ? .devices : operation.isManagement ? .management : .broadcast
        }

        /// The key of the configuration that says where the host is.
        var setting: String {
            switch self {
            case .devices: "apns"
            case .broadcast: APNSConfiguration.broadcastKey
            case .management: APNSConfiguration.broadcastChannelsKey
            }
        }
    }

    /// Which of the three hosts it is.
    let kind: Kind
    /// Opens its connections; nil for the route that answers `NoRoute`, which sends nothing.
    let connector: APNSConnector?
    /// The connections; nil before the first job, and after a rest.
    private(set) var pool: APNSPool?
    /// Passes the pool's events on; the pool does not keep it alive.
    private var events: (any APNSPoolDelegate)?
    /// Decides when connections are opened and closed.
    private var machine: OnDemandStateMachine
    /// Decides how much may be sent here.
    var breaker: RouteBreaker
    /// How a host for broadcast channels last refused the credential. Nil before a refusal, and again once the
    /// credential was replaced.
    private(set) var refusal: CredentialRefusal?
    /// Why the host cannot be reached; nil after a success.
    private(set) var trouble: String?
    /// The last answer that was not surely the host's; nil before the first.
    private var stranger: (answer: Answer, at: MonotonicTime)?
    /// How long operators are told of an answer that was not the host's. One in many answers must not be overlooked.
    static let strangerTime = Duration.seconds(60)
    /// How many percent of the requests are kept for `high` jobs; nil if these do not go first.
    private let highShare: Int?
    /// Decides which class is next.
    private var order = HighFirst()
    /// How many of the open requests are of `high` jobs that go first.
    private var highInFlight = 0
    /// Jobs with notifications that were not handed out yet, oldest first.
    private(set) var waiting = ByClass<JobInFlight>()
    /// Notifications to be sent again at once, ahead of everything else of their class.
    private(set) var resends = ByClass<Notification>()
    /// Requests whose answer is awaited, by the tag with which each was submitted.
    private var requests = SlotTable<Notification>()
    /// How many connections were opened, and how many GOAWAYs came, in the pools that were closed after a rest.
    private(set) var earlier = (opened: 0, goAways: 0)

    /// A host without a connection.
    ///
    /// - Parameters:
    ///   - kind: Which of the three hosts it is.
    ///   - connector: Opens its connections; nil where nothing is ever sent.
    ///   - idleTime: How long its connections rest before they are closed; nil for the usual time.
    ///   - highShare: How many percent of the requests are kept for jobs of class `high`; nil if these do not go first.
    init(
        _ kind: Kind, connector: APNSConnector? = nil, idleTime: Duration? = nil, highShare: Int? = nil
    ) {
        self.kind = kind
        self.highShare = highShare
        self.connector = connector
        breaker = RouteBreaker()
        let isForDevices = kind == .devices
        machine = OnDemandStateMachine(
            idleTime: idleTime
                ?? (isForDevices ? APNSConfiguration.standardIdle : OnDemandStateMachine.idleTimeOfBroadcastChannels),
            patience: isForDevices ? nil : OnDemandStateMachine.patienceOfBroadcastChannels)
    }

    /// Whether jobs of class `high` have lists and streams of their own. Otherwise all jobs count as normal.
    var takesHighFirst: Bool { highShare != nil }
    /// Whether jobs about broadcast channels go here. Such jobs do not wait for long.
    var isForBroadcastChannels: Bool { kind != .devices }
    /// Whether pushes could go here, but there was no connection since the start or the last rest: no job wanted a
    /// connection, or no connection could be made.
    var isUntried: Bool { connector != nil && !breaker.wasConnected }
    /// Whether notifications wait to be sent.
    var hasWaiting: Bool { !(waiting.isEmpty && resends.isEmpty) }
    /// Upper bound of how many notifications wait to be sent. Only jobs about some indexes can make it too high.
    var unsent: Int { waiting.reduce(resends.count) { $0 + $1.unsent } }
    /// How many requests have no answer yet.
    var inFlight: Int { requests.count }
    /// Whether no request is open and nothing waits to be sent.
    var isQuiet: Bool { requests.count == 0 && !hasWaiting }
    /// Whether nothing is under way. On a host for broadcast channels that refused the credential, jobs that wait for
    /// the next probe do not count.
    var isStill: Bool { requests.count == 0 && (!hasWaiting || (isForBroadcastChannels && breaker.intake == .none)) }
    /// Whether there is nothing to do and no connection to look after.
    var isAsleep: Bool { isQuiet && pool == nil }

    /// When the destination has something to do only because time passed.
    var nextDue: MonotonicTime? {
        let tick = breaker.nextTick
        guard let due = machine.nextDue else { return tick }
        return min(due, tick ?? due)
    }

    // MARK: What waits

    /// Takes a job of which nothing was handed out yet.
    func take(_ job: JobInFlight) { waiting.append(job, to: jobClass(of: job)) }

    /// Goes on with a job whose channel was gone and which the broker delivered again.
    func resume(_ job: JobInFlight) {
        for notification in job.takePostponed() { resend(notification) }
        if job.hasMore { waiting.prepend(job, to: jobClass(of: job)) }
    }

    /// Takes a notification that is to be sent again.
    func resend(_ notification: Notification) { resends.append(notification, to: jobClass(of: notification.job)) }

    /// The list in which a job waits.
    private func jobClass(of job: JobInFlight) -> JobClass { takesHighFirst ? job.job.jobClass : .normal }

    /// Whether notifications of a class wait to be sent.
    private func hasWaiting(_ jobClass: JobClass) -> Bool {
        waiting.hasAny(jobClass) || resends.hasAny(jobClass)
    }

    /// Whether notifications of `high` jobs wait, and go first.
    var hasHighWaiting: Bool { takesHighFirst && hasWaiting(.high) }

    /// The next notification. `high` jobs go first. Within a class, resends go first, then the oldest job's next index.
    func next() -> Notification? { (takesHighFirst ? next(of: .high) : nil) ?? next(of: .normal) }

    /// The next notification to send.
    ///
    /// - Parameter room: How many requests may be submitted.
    /// - Returns: Nil where nothing may go.
    func next(in room: SendingRoom) -> Notification? {
        guard takesHighFirst else { return room.total > 0 ? next(of: .normal) : nil }
        let jobClass = order.next(high: room.total > 0 && hasWaiting(.high), normal: mayTakeNormal(room))
        return jobClass.flatMap { next(of: $0) }
    }

    private func mayTakeNormal(_ room: SendingRoom) -> Bool {
        room.total > 0 && room.normal > 0 && hasWaiting(.normal)
    }

    private func next(of jobClass: JobClass) -> Notification? {
        if let resend = resends.popFirst(of: jobClass) { return resend }
        while let job = waiting.first(of: jobClass) {
            let notification = job.next()
            // A job leaves as soon as all of it is handed out, so that a route without work is seen to have none.
            if !job.hasMore { _ = waiting.popFirst(of: jobClass) }
            if let notification { return notification }
        }
        return nil
    }

    /// Takes out the jobs that another worker may do: jobs that were not begun, and jobs whose only notification waits
    /// to be sent again, with nothing published for it.
    ///
    /// - Parameter isCurrent: Whether a job's delivery can still be given back.
    func takeUnsent(where isCurrent: (JobInFlight) -> Bool) -> [JobInFlight] {
        var unsent: [JobInFlight] = []
        resends.removeAll { resend in
            guard resend.isUntouched, isCurrent(resend.job) else { return false }
            unsent.append(resend.job)
            return true
        }
        for jobClass in JobClass.allCases {
            while let job = waiting.last(of: jobClass), !job.isStarted, isCurrent(job) {
                _ = waiting.popLast(of: jobClass)
                unsent.append(job)
            }
        }
        return unsent
    }

    /// Takes out the first wanted job of which nothing was handed out.
    ///
    /// - Parameter isWanted: Whether a job is wanted; asked about one job after the other.
    func takeUnstarted(where isWanted: (JobInFlight) -> Bool) -> JobInFlight? {
        waiting.firstIndex { !$0.isStarted && isWanted($0) }.map { waiting.remove(at: $0) }
    }

    /// The multicast job of a class that is partly sent; nil without one.
    func begun(_ jobClass: JobClass) -> JobInFlight? {
        waiting.first(of: jobClass).flatMap { $0.isStarted && $0.job.isMulticast ? $0 : nil }
    }

    /// Takes out the unsent notifications of multicast jobs that were begun.
    ///
    /// - Parameter isWanted: Whether a job's notifications are to be taken out.
    func takeBegun(where isWanted: (JobInFlight) -> Bool) -> [Notification] {
        var begun: [Notification] = []
        waiting.removeAll { job in
            guard job.isStarted, job.job.isMulticast, isWanted(job) else { return false }
            while let notification = job.next() { begun.append(notification) }
            return true
        }
        resends.removeAll { resend in
            guard resend.job.isStarted, resend.job.job.isMulticast, isWanted(resend.job) else { return false }
            begun.append(resend)
            return true
        }
        return begun
    }

    /// Takes out the unsent notifications of jobs of which a part was sent. Such jobs cannot go back to their queue.
    func takeTouched() -> [Notification] {
        var touched = takeBegun { _ in true }
        resends.removeAll { resend in
            guard !resend.isUntouched else { return false }
            touched.append(resend)
            return true
        }
        return touched
    }

    /// The broker's channel is gone. What was not sent waits until the broker delivers its job again.
    func generationEnded() {
        waiting.removeAll { _ in true }
        resends.removeAll { resend in
            resend.job.postpone(resend)
            return true
        }
    }

    // MARK: Requests

    /// How many notifications the breaker lets through now.
    var allowance: Int {
        switch breaker.intake {
        case .none: 0
        case .one: requests.count == 0 ? 1 : 0
        case .full: .max
        }
    }

    /// How many notifications may be submitted now; nil where none may.
    var room: SendingRoom? {
        guard let pool else { return nil }
        let total = min(pool.capacity, allowance)
        guard total > 0 else { return nil }
        guard let kept = kept(of: pool) else { return SendingRoom(total) }
        return SendingRoom(total, keeping: kept, isStill: requests.count == 0)
    }

    /// How many requests normal jobs have to leave free for `high` jobs; nil if these do not go first.
    private func kept(of pool: APNSPool) -> Int? {
        highShare.map { SendingRoom.kept($0, percentOf: pool.concurrency, highInFlight: highInFlight) }
    }

    /// Submits a request. It leaves with the next flush.
    ///
    /// - Parameters:
    ///   - cleared: The notification.
    ///   - room: The room for requests, which becomes smaller.
    ///   - moment: The time.
    /// - Returns: False when no connection can take the request now. The notification then waits again, as the first of
    ///   its class.
    func submit(_ cleared: consuming Cleared, in room: inout SendingRoom, at moment: Moment) -> Bool {
        let notification = cleared.notification
        let tag = began(notification)
        let inFlight = notification.job
        let jobClass = jobClass(of: inFlight)
        guard pool?.submit(inFlight.job, index: notification.index, tag: tag, now: moment.monotonic) == true else {
            _ = ended(tag)
            resends.prepend(notification, to: jobClass)
            return false
        }
        if takesHighFirst { order.sent(jobClass, normal: mayTakeNormal(room)) }
        room.take(jobClass)
        return true
    }

    /// Notes a request.
    ///
    /// - Returns: The tag that its answer names.
    func began(_ notification: Notification) -> Int {
        if jobClass(of: notification.job) == .high { highInFlight += 1 }
        return requests.insert(notification)
    }

    private func ended(_ tag: Int) -> Notification? {
        let notification = requests.remove(tag)
        if takesHighFirst, notification?.job.job.jobClass == .high { highInFlight -= 1 }
        return notification
    }

    /// A request is over.
    ///
    /// - Parameters:
    ///   - tag: The tag with which the request was submitted.
    ///   - isHeard: Whether the host answered the request.
    /// - Returns: The notification that was sent.
    func answered(_ tag: Int, isHeard: Bool) -> Notification? {
        if isHeard {
            trouble = nil
            machine.answered()
        }
        return ended(tag)
    }

    /// A request was answered.
    func heard(_ answer: Answer, now: MonotonicTime) {
        if answer.speaker != .apns { stranger = (answer, now) }
    }

    /// What answered in the host's place within the last minute, and what to do; nil if only the host answered.
    func stranger(at now: MonotonicTime) -> String? {
        guard let stranger, now < stranger.at + Self.strangerTime else { return nil }
        let place = isForBroadcastChannels ? "\(kind.setting): " : ""
        return place + "an answer was \(stranger.answer.text): what stands between the worker and APNs?"
    }

    // MARK: The credential

    /// A new version of the credential was read.
    ///
    /// - Returns: Whether the version is in use. The refusal of the old version is then forgotten.
    func offer(_ credential: APNSCredential, now: MonotonicTime) -> Bool {
        pool?.offer(credential, now: now)
        // Without connections now, the next connections use the new version.
        guard pool == nil || pool?.credential === credential else { return false }
        credentialReplaced()
        return true
    }

    /// Another version of the credential is in use. The route learns at once whether APNs accepts it.
    func credentialReplaced() {
        refusal = nil
        breaker.credentialReplaced()
    }

    /// APNs refused the credential here.
    ///
    /// - Parameters:
    ///   - how: The answer or the connection error that refused it.
    ///   - moment: The time.
    func credentialRefused(_ how: CredentialRefusal, at moment: Moment) {
        if isForBroadcastChannels { refusal = how }
        breaker.credentialRefused(now: moment.monotonic)
    }

    /// The credential may be used from now on, or may not.
    ///
    /// - Parameters:
    ///   - isHeld: Whether the credential may not be used: it is not valid now, or its files cannot be used.
    ///   - moment: The time.
    func hold(_ isHeld: Bool, at moment: Moment) {
        breaker.isHeld = isHeld
        if isHeld { pool?.expire(now: moment.monotonic, seconds: moment.wall / 1_000) }
    }

    // MARK: Connections

    /// Gives the destination its connections.
    func open(_ pool: APNSPool, events: any APNSPoolDelegate) {
        self.pool = pool
        self.events = events
    }

    /// Closes the connections; open requests get their answers before this returns.
    func close() {
        pool?.close()
        pool = nil
        events = nil
    }

    /// Whether the pool still waits for a connect. The end of another one means nothing: it was given up, or an earlier
    /// pool had asked for it. Its connection is closed with its last reference.
    func awaits(_ request: ConnectRequest) -> Bool { pool?.awaits(request) == true }

    /// A connect that the pool awaits is over.
    ///
    /// - Returns: Why it failed; nil if it succeeded.
    func connected(
        _ result: Result<EstablishedConnection, APNSClientError>, for request: ConnectRequest, at moment: Moment
    ) -> APNSClientError? {
        guard let pool else { return nil }
        switch result {
        case .success(let connection):
            trouble = nil
            pool.adopt(connection, for: request, now: moment.monotonic)
            return nil
        case .failure(let error):
            trouble = error.message
            pool.connectFailed(error, for: request, now: moment.monotonic)
            if isForBroadcastChannels, pool.isConnected != true, requests.count == 0 {
                close()
                machine.failed(now: moment.monotonic)
            }
            return error
        }
    }

    /// The connections take more than before, or the last of them is gone.
    func capacityChanged(at moment: Moment) {
        // The breaker of a host for broadcast channels does not hear of lost connections: the connections to such a
        // host are closed when nobody needs them.
        guard kind == .devices, let isConnected = pool?.isConnected else { return }
        breaker.connectivityChanged(isConnected: isConnected, now: moment.monotonic)
    }

    /// Whether nothing is to be decided about its connections now.
    func isSettled(at moment: Moment) -> Bool { machine.isSettled(isInUse: !isQuiet, now: moment.monotonic) }

    /// What is to be done about its connections.
    ///
    /// - Parameters:
    ///   - isWanted: Whether only a connection is missing.
    ///   - moment: The time.
    func nextStep(isWanted: Bool, at moment: Moment) -> OnDemandStateMachine.Action? {
        machine.next(isWanted: isWanted, isBusy: requests.count > 0 || !mayRest, now: moment.monotonic)
    }

    /// Whether the connections may be closed after a rest. The connections for devices decide how the whole route is
    /// judged. So they stay until a credential is proved, an outage or a refusal is over, and a waiting job is sent.
    private var mayRest: Bool {
        guard kind == .devices, let pool else { return true }
        return pool.isConnected == true && pool.provingVersion == nil && breaker.intake == .full && !hasWaiting
    }

    /// Closes the connections after a rest, as if there had never been any.
    func rest() {
        if let status = pool?.status {
            earlier.opened += status.opened
            earlier.goAways += status.goAways
        }
        close()
        machine.rest()
        breaker.connectionsClosed()
    }

    /// Sends what was submitted.
    ///
    /// - Parameters:
    ///   - hasBacklog: Whether notifications wait that would have been submitted if there had been room.
    ///   - moment: The time.
    func flush(hasBacklog: Bool, at moment: Moment) {
        guard let pool else { return }
        // A waiting `high` notification may use all of the capacity.
        let kept = hasWaiting(.high) ? nil : kept(of: pool)
        pool.flush(now: moment.monotonic, hasBacklog: hasBacklog, keeping: kept ?? 0)
    }

    /// The reasons why requests about broadcast channels are not sent, one line for each reason.
    var broadcastChannelTroubles: [String] {
        var troubles: [String] = []
        if let refusal, breaker.state != .working {
            troubles.append("\(kind.setting): APNs refuses the credential: \(refusal.text)")
        }
        if let trouble { troubles.append("\(kind.setting): \(trouble)") }
        return troubles
    }
}
