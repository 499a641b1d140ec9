import EventLoop
import PushModel
import TLS
import TestSupport
import Testing

@testable import APNSClient

/// A pool on a loop of its own, driven as a lane drives it.
class PoolDriver: APNSPoolDelegate {
    let loop: EventLoop
    private(set) var pool: APNSPool!
    private let closesAtEnd: Bool
    private let connector: APNSConnector
    private let mailbox: Mailbox<(ConnectRequest, Parcel)>
    /// Every answer, in the order of arrival.
    private(set) var answers: [(tag: Int, answer: PushAnswer)] = []
    private(set) var connectErrors: [APNSClientError] = []
    private(set) var capacityChanges = 0
    /// What became of the credential, in the order of arrival.
    private(set) var events: [CredentialEvent] = []
    /// What the pool asked for, in the order it did.
    private(set) var connectRequests: [ConnectRequest] = []
    /// Called inside the answer.
    var onAnswer: ((Int, PushAnswer) -> Void)?
    /// Whether the pool is told that more would have been submitted.
    var hasBacklog = true

    init(
        loop: EventLoop, port: Int, trust: TrustRoots, tokens: ProviderTokenSource? = nil,
        credential: APNSCredential? = nil, closesAtEnd: Bool = true, proxy: HTTPProxy? = nil,
        names: NameServer = NameServer(lookUp: Resolver.addresses),
        _ change: (inout APNSPoolConfiguration) -> Void = { _ in }
    ) throws {
        self.loop = loop
        self.closesAtEnd = closesAtEnd
        let endpoint = APNSEndpoint(host: "127.0.0.1", port: port)
        let context = try TLSContext.client(trust: trust, identity: nil, applicationProtocols: ["h2"])
        let credential = credential ?? APNSCredential(name: "test", context: context, tokens: tokens)
        connector = APNSConnector(
            endpoint: endpoint, trust: context,
            limiter: ConnectRateLimiter(.init(hostBurst: 1_000, processBurst: 1_000)), proxy: proxy,
            resolve: names.lookUp)
        mailbox = Mailbox(waking: loop.wakeup)
        var configuration = APNSPoolConfiguration(requestTimeout: .seconds(20), connections: 1)
        configuration.openInterval = .milliseconds(1)
        change(&configuration)
        pool = APNSPool(
            configuration: configuration, loop: loop, endpoint: endpoint, credential: credential, delegate: self)
    }

    deinit {
        if closesAtEnd { pool.close() }
    }

    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {
        let answer = answer
        answers.append((tag, answer))
        onAnswer?(tag, answer)
    }

    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {
        connectRequests.append(request)
        _ = try? LoopThread.start(name: "connect") { [connector, mailbox] in
            mailbox.post((request, Parcel(connector.result(of: request))))
        }
    }

    func poolCapacityChanged(_ pool: APNSPool) { capacityChanges += 1 }

    func pool(_ pool: APNSPool, credential event: CredentialEvent) { events.append(event) }

    /// Turns the loop, as a lane does, until something is so.
    func turn(
        until condition: () -> Bool, _ location: SourceLocation = #_sourceLocation, everyTurn: () -> Void = {}
    ) throws {
        let deadline = MonotonicTime.now().adding(.seconds(45))
        while !condition() {
            let now = try loop.turn(waitingAtMost: .milliseconds(20))
            for (request, parcel) in mailbox.take() {
                switch parcel.result {
                case .success(let connection): pool.adopt(connection, for: request, now: now)
                case .failure(let error):
                    connectErrors.append(error)
                    pool.connectFailed(error, for: request, now: now)
                }
            }
            everyTurn()
            pool.flush(now: now, hasBacklog: hasBacklog)
            guard now < deadline else {
                Issue.record("it did not happen in time: \(pool.status)", sourceLocation: location)
                throw TimedOut()
            }
        }
    }

    /// Turns the loop until a connection takes requests.
    func connect() throws { try turn { self.pool.status.open > 0 } }

    /// Submits jobs as capacity allows until all have had their answers. Others that are open have larger tags.
    func send(_ job: Job, count: Int) throws {
        var next = 0
        let first = answers.count
        try turn {
            answers.dropFirst(first).count { $0.tag < count } == count
        } everyTurn: {
            var room = pool.capacity
            while next < count, room > 0, pool.submit(job, index: 0, tag: next, now: .now()) {
                next += 1
                room -= 1
            }
        }
    }

    func turn(until condition: () -> Bool, everyTurn: () -> Void) throws {
        try turn(until: condition, #_sourceLocation, everyTurn: everyTurn)
    }

    /// Submits requests that must be taken.
    func submit(_ job: Job, tags: some Sequence<Int>, _ location: SourceLocation = #_sourceLocation) {
        for tag in tags where !pool.submit(job, index: 0, tag: tag, now: .now()) {
            Issue.record("request \(tag) was not taken: \(pool.status)", sourceLocation: location)
        }
    }

    /// Submits a request that must not be taken.
    func refuses(_ job: Job, tag: Int, _ location: SourceLocation = #_sourceLocation) {
        guard pool.submit(job, index: 0, tag: tag, now: .now()) else { return }
        Issue.record("request \(tag) was taken: \(pool.status)", sourceLocation: location)
    }

    /// Statuses of all answers, 0 where there was no response.
    var statuses: [Int] {
        answers.map { if case .response(let response) = $0.answer { response.status } else { 0 } }
    }

    struct TimedOut: Error {}
}
