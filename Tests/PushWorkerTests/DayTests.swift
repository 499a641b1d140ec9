import EventLoop
import Foundation
import PushModel
import TLS
import TestSupport
import Testing

@testable import APNSClient
@testable import APNSSimulator
@testable import PushWorker

/// One connection of the client to a simulator, whose every look at the time is at a clock that the test moves.
private final class DayClient: APNSConnectionOwner {
    struct Stuck: Error {
        var cause: APNSClientError?
        var answers: Int
        var minutes: Int64
    }

    let clock: ManualClock
    private let start: Int64
    private let tokens: ProviderTokenSource
    private let loop: EventLoop
    private var connection: APNSConnection!
    private var random = SystemRandomNumberGenerator()
    private(set) var answers: [PushAnswer] = []
    private(set) var error: APNSClientError?
    private(set) var isOver = false
    /// How many PINGs were answered.
    private(set) var pings = 0
    /// How many tokens were taken.
    private(set) var tokensTaken = 0

    /// A silent connection is asked each `pingInterval` whether it lives. It may stay useless for ever.
    static let configuration = {
        var configuration = APNSPoolConfiguration(requestTimeout: .seconds(20), connections: 1)
        configuration.pingTimeout = pingTimeout
        configuration.patience = .nanoseconds(Int64.max)
        return configuration
    }()
    /// Ten seconds and a bit: nothing else falls due at such a time.
    static let pingTimeout = Duration.nanoseconds(10_000_000_001)

    init(_ simulator: RunningSimulator, clock: ManualClock, tokens: ProviderTokenSource) throws {
        self.clock = clock
        start = clock.wallMilliseconds
        self.tokens = tokens
        loop = try EventLoop()
        let context = try TLSContext.client(
            trust: TrustRoots(systemRoots: false, files: [], pem: [simulator.authorityPEM]), identity: nil,
            applicationProtocols: ["h2"])
        let endpoint = APNSEndpoint(host: "localhost", port: simulator.port)
        let connector = APNSConnector(
            endpoint: endpoint, trust: context,
            limiter: ConnectRateLimiter(.init(hostBurst: 10, processBurst: 10)))
        let request = ConnectRequest(id: 1, avoiding: [], timeout: .seconds(10))
        let established = try connector.result(of: request).get()
        let credential = APNSCredential(name: "day", context: context, tokens: tokens)
        connection = try APNSConnection(
            established, authority: endpoint.authority, settings: Self.configuration, credential: credential,
            token: try ConnectionToken(of: credential, wallSeconds: clock.wallSeconds), isProof: false,
            loop: loop, buffers: APNSConnection.Buffers(), owner: self, now: clock.now)
        connection.flush(now: clock.now)
    }

    deinit { connection.abandon() }

    /// Does what a minute brings: a PING.
    func tick() async throws {
        connection.tick(now: clock.now)
        // From the PING on the next thing due is its answer.
        let due = clock.now + Self.pingTimeout
        guard connection.nextDue == due else { return }
        try await serve { connection.nextDue != due }
        pings += 1
    }

    /// Sends a push and waits for its answer.
    func push(_ job: Job) async throws -> Int {
        try await serve { connection.isUsable && connection.admits(bytes: job.payload.count) }
        let before = answers.count
        if connection.token.isDue(now: clock.now) { try changeToken() }
        guard connection.submit(job, index: 0, tag: before, now: clock.now) != nil else { throw stuck }
        connection.flush(now: clock.now)
        try await serve { answers.count > before }
        guard case .response(let response)? = answers.last else { throw stuck }
        return response.status
    }

    private var stuck: Stuck {
        Stuck(cause: error, answers: answers.count, minutes: (clock.wallMilliseconds - start) / 60_000)
    }

    /// Reads and writes, while the clock stands still, until something is so.
    private func serve(until condition: () -> Bool) async throws {
        let start = MonotonicTime.now()
        while !condition() {
            guard error == nil, !isOver, MonotonicTime.now().nanoseconds(since: start) < 20_000_000_000 else {
                throw stuck
            }
            connection.socketIsReady(.readable, now: clock.now)
            await Task.yield()
        }
    }

    private func changeToken() throws {
        try connection.token.change(now: clock.now, wallSeconds: clock.wallSeconds, random: &random)
        tokensTaken += 1
    }

    func connection(
        _ connection: APNSConnection, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime
    ) { answers.append(answer) }

    func connectionProgressed(_ connection: APNSConnection, now: MonotonicTime) {}

    func connectionEnded(_ connection: APNSConnection, _ error: APNSClientError?, now: MonotonicTime) {
        self.error = error
        isOver = true
    }
}

@Suite("A day in seconds", .timeLimit(.minutes(5)))
struct DayTests {
    private static let minutes = 24 * 60
    /// The minute after which a connection that was idle so far begins to push.
    private static let lateMinute = 8 * 60
    private static let topic = "com.example.app"

    /// A job as the queue would bring it.
    private func job(_ token: String, expiration: Int64) throws -> Job {
        let text =
            #"{"device_token":"\#(token)","payload":{"aps":{"alert":"hello"}},"expiration":\#(expiration)}"#.utf8
        let bytes = Array("production.normal.\(Self.topic)".utf8) + Array("application/json".utf8) + Array(text)
        let key = bytes.count - text.count - 16
        let message = JobMessage(
            bytes: bytes, routingKey: 0..<key, contentType: key..<(key + 16), body: (key + 16)..<bytes.count)
        return try JobDecoder().decode(message, now: 1_800_000_000_000, random: { 0x1234_5678_9ABC_DEF0 }).get()
    }

    /// Activates a device that is never there, and gives its token.
    private func deviceToken(_ service: DeviceService) throws -> String {
        let activated = service.responder.activate(DeviceFrame(.activate))
        let device = try #require(activated.device.flatMap { DeviceID($0) })
        var registration = DeviceFrame(.register)
        registration.app = Self.topic
        return try #require(service.responder.answer(registration, from: device, link: 1)?.token)
    }

    @Test(
        "Tokens change in time, a quiet connection is kept by PINGs, a certificate gives its warning, and what waits expires"
    )
    func day() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("day-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration(stateDirectory: folder.path)
        configuration.environment = .production
        configuration.adminPort = nil
        configuration.devices.port = 0
        configuration.keys = [ProviderKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", publicKey: key.publicKey)]
        // Less than two intervals between PINGs: one that is missed ends the connection.
        configuration.limits.idleTimeout = 90 * 60_000
        let simulator = try await APNSSimulator.start(configuration)
        do {
            try await live(simulator, key)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    private func live(_ simulator: RunningSimulator, _ key: ES256PrivateKey) async throws {
        let start = simulator.control.now
        let clock = ManualClock(wallMilliseconds: start)
        let tokens = ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key)
        let busy = try DayClient(simulator, clock: clock, tokens: tokens)
        let quiet = try DayClient(simulator, clock: clock, tokens: tokens)
        let late = try DayClient(simulator, clock: clock, tokens: tokens)
        let devices = try #require(simulator.devices)
        let waiting = try job(try deviceToken(devices), expiration: start / 1000 + 6 * 3_600)
        #expect(try await busy.push(waiting) == 200)
        #expect(devices.views(limit: 1).first?.waiting == 1)

        // A certificate that has seven days and a half left when the day begins.
        let issued = try simulator.control.issue(
            ProviderCertificateRequest(topics: [Self.topic], days: 8, startsIn: -43_200))
        let end = try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM).notAfter
        var expiry = CredentialExpiryStateMachine()
        #expect(expiry.advance(notAfter: end, now: clock.wallSeconds) == .fortnight)
        var warnings: [(minute: Int, stage: CredentialExpiryStateMachine.Stage)] = []

        let usual = try job(String(repeating: "ab", count: 32), expiration: 0)
        var expiredAt: Int?
        for minute in 1...Self.minutes {
            clock.advance(by: .seconds(60))
            simulator.control.advanceClock(milliseconds: 60_000)
            try await busy.tick()
            try await quiet.tick()
            try await late.tick()
            if let stage = expiry.advance(notAfter: end, now: clock.wallSeconds) { warnings.append((minute, stage)) }
            devices.tick()
            if expiredAt == nil, devices.views(limit: 1).first?.waiting == 0 { expiredAt = minute }
            if minute % 5 == 0 {
                let status = try await busy.push(usual)
                #expect(status == 200, "after \(minute) minutes")
                // APNs sees a token of this connection for the first time long after it was opened.
                if minute > Self.lateMinute { #expect(try await late.push(usual) == 200, "after \(minute) minutes") }
            }
        }
        // A day later the quiet connection takes a push as if it had never been idle.
        #expect(try await quiet.push(usual) == 200)

        // Neither ExpiredProviderToken nor TooManyProviderTokenUpdates, nor anything else but 200.
        #expect(simulator.ledger.counts.map(\.status) == [200])
        #expect(simulator.ledger.total == Self.minutes / 5 + 2 + (Self.minutes - Self.lateMinute) / 5)
        // A connection lets a token go at an age of 50 to 55 minutes; it was at most 30 minutes old when it was taken.
        #expect((Self.minutes / 56...Self.minutes / 20).contains(busy.tokensTaken))
        #expect(simulator.counters.connectionsAccepted == 3 && !busy.isOver && !quiet.isOver)
        #expect(busy.pings == 0 && quiet.pings == Self.minutes / 60)
        #expect(warnings.map(\.stage) == [.week])
        #expect((719...721).contains(warnings.first?.minute ?? 0))
        #expect((360...361).contains(expiredAt ?? 0))
    }
}
