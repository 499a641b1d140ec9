import EventLoop
import LocalStack
import PushModel
import TLS
import TestSupport
import Testing
import Topology

@testable import APNSClient
@testable import APNSSimulator
@testable import PushWorker
@testable import RabbitMQ

/// A route with a connection to a simulator, driven as a lane drives it.
private final class HighDriver: RouteSuite, APNSPoolDelegate {
    struct TimedOut: Error {}

    private let loop: EventLoop
    private let connector: APNSConnector
    private var requests: [ConnectRequest] = []
    private var tag: UInt64 = 0
    private(set) var app: Route!

    init(_ simulator: RunningSimulator, _ tokens: ProviderTokenSource, rate: SendingRate?, highShare: Int) throws {
        let loop = try EventLoop()
        self.loop = loop
        let context = try TLSContext.client(
            trust: TrustRoots(systemRoots: false, files: [], pem: [simulator.authorityPEM]), identity: nil,
            applicationProtocols: ["h2"])
        let endpoint = APNSEndpoint(host: "localhost", port: simulator.port)
        connector = APNSConnector(
            endpoint: endpoint, trust: context,
            limiter: ConnectRateLimiter(.init(hostBurst: 10, processBurst: 10)))
        let credential = APNSCredential(name: "c", context: context, tokens: tokens)
        app = try route(
            queues: ["q", TopologyNames.highJobQueue(route: "app")], rate: rate,
            credit: RouteCredit(fixed: nil, rate: nil),
            devices: Destination(.devices, connector: connector, highShare: highShare)
        ) { [unowned self] _, destination in
            let pool = APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(50), connections: 1), loop: loop,
                endpoint: endpoint, credential: credential, delegate: self)
            destination.open(pool, events: self)
        }
        app.surroundings.publisher.confirmsSelected(1)
        app.credential.known = RouteCredential(name: "c", newest: credential)
    }

    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {
        app.answered(tag, answer, on: app.devices, at: moment(now))
    }

    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) { requests.append(request) }

    func poolCapacityChanged(_ pool: APNSPool) { app.devices.capacityChanged(at: moment(.now())) }

    private func moment(_ now: MonotonicTime) -> Moment { Moment(monotonic: now, wall: Self.wallClock) }

    /// Delivers a job to the route.
    func deliver(_ jobClass: JobClass, token: String, campaign: String = "") {
        tag += 1
        let exchange = Array("apns.jobs".utf8)
        let key = exchange + Array("development.\(jobClass.rawValue).com.example.app".utf8)
        let names = #""id":"job-\#(tag)","device_token":"\#(token)","reference":"\#(campaign)""#
        let body = Array("{\(names),\"payload\":{\"aps\":{}}}".utf8)
        let type = Array("application/json".utf8)
        let written: [UInt8] = [0x80, 0, UInt8(type.count)] + type
        let properties = key.count..<(key.count + written.count)
        let delivery = Delivery(
            channel: 1, deliveryTag: tag, redelivered: false, bytes: key + written + body,
            exchange: 0..<exchange.count, routingKey: exchange.count..<key.count, properties: properties,
            body: properties.upperBound..<(properties.upperBound + body.count), bodySize: UInt64(body.count),
            isTruncated: false)
        #expect(app.delivered(delivery, at: moment(.now())))
    }

    /// One turn of the route, without waiting for anything.
    ///
    /// - Returns: After how long the next one is due.
    @discardableResult
    func turn() -> Duration {
        let moment = moment(.now())
        _ = app.turn(at: moment, LaneCondition())
        return app.nextDue(after: moment) - moment.monotonic
    }

    /// Turns loop and route until something is so.
    func turn(until condition: () -> Bool) throws {
        let deadline = MonotonicTime.now().adding(.seconds(40))
        while !condition() {
            let now = try loop.turn(waitingAtMost: .milliseconds(5))
            let wanted = requests
            requests = []
            for request in wanted {
                _ = app.connected(.devices, connector.result(of: request), for: request, at: moment(now))
            }
            _ = app.turn(at: moment(now), LaneCondition())
            guard now < deadline else { throw TimedOut() }
        }
    }
}

@Suite("High jobs on a busy route", .timeLimit(.minutes(2)))
struct RouteHighTests {
    /// The simulator never answers this one.
    private static let silent = "0ff00000" + String(repeating: "0", count: 56)
    /// The simulator accepts this one.
    private static let good = "600d0000" + String(repeating: "0", count: 56)

    /// Runs a test with a route that has one connection with some streams, which took one push already.
    private func withRoute(
        streams: UInt32, rate: SendingRate? = nil, highShare: Int = 25, _ test: (HighDriver) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory(prefix: "martlet-high")
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration(stateDirectory: directory.path)
        configuration.adminPort = nil
        configuration.devices.port = 0
        configuration.keys = [ProviderKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", publicKey: key.publicKey)]
        configuration.streams = .fixed(streams)
        let simulator = try await APNSSimulator.start(configuration)
        do {
            let tokens = ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key)
            let driver = try HighDriver(simulator, tokens, rate: rate, highShare: highShare)
            defer { driver.app.close() }
            driver.deliver(.normal, token: Self.good)
            try driver.turn { driver.app.tally.counters.requests == 1 && driver.app.devices.inFlight == 0 }
            try test(driver)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    @Test("Streams full of normal jobs: a high one leaves at once, on a stream that they never use")
    func streams() async throws {
        try await withRoute(streams: 8) { driver in
            let devices = driver.app.devices
            for _ in 0..<20 { driver.deliver(.normal, token: Self.silent) }
            try driver.turn { devices.inFlight == 6 }
            for _ in 0..<10 { driver.turn() }
            #expect(devices.inFlight == 6 && devices.waiting.count == 14, "a quarter of the streams is kept")
            #expect(devices.pool?.limit == .streams, "the pool knows that more would go out")
            driver.deliver(.high, token: Self.good)
            driver.turn()
            #expect(devices.inFlight == 7 && devices.waiting.count == 14)
            try driver.turn { devices.inFlight == 6 }
            #expect(driver.app.tally.counters.requests == 8)
            // High ones may have every stream that is free.
            for _ in 0..<3 { driver.deliver(.high, token: Self.silent) }
            driver.turn()
            #expect(devices.inFlight == 8 && devices.waiting.first?.job.jobClass == .high)
            #expect(devices.waiting.count == 15)
        }
    }

    @Test("Normal jobs leave as many streams free as the route's share says", arguments: [(50, 4), (75, 2), (1, 7)])
    func share(_ percent: Int, normal: Int) async throws {
        try await withRoute(streams: 8, highShare: percent) { driver in
            let devices = driver.app.devices
            for _ in 0..<20 { driver.deliver(.normal, token: Self.silent) }
            try driver.turn { devices.inFlight == normal }
            for _ in 0..<10 { driver.turn() }
            #expect(devices.inFlight == normal && devices.waiting.count == 20 - normal)
        }
    }

    @Test("A rate that 1,500 normal jobs wait for: the high one has the next request")
    func rate() async throws {
        try await withRoute(streams: 100, rate: SendingRate(perSecond: 20)) { driver in
            let (route, devices) = (driver.app!, driver.app.devices)
            for _ in 0..<1_500 { driver.deliver(.normal, token: Self.good) }
            let began = route.tally.counters.requests
            try driver.turn { route.tally.counters.requests >= began + 4 }
            let before = route.tally.counters.requests
            driver.deliver(.high, token: Self.good)
            var after = 0
            try driver.turn {
                after = route.tally.counters.requests
                return !devices.hasHighWaiting
            }
            // A slow machine may let two requests go in one turn; the high one is the first of them.
            #expect(after - before <= 2 && devices.waiting.count > 1_400)
            let normals = devices.waiting.count
            #expect(normals == 1_500 - (after - 2), "one of what went out was high, and one was there before")
        }
    }

    @Test("Of a cancelled campaign a turn settles a part, so that other routes have their turns")
    func cancelled() async throws {
        try await withRoute(streams: 8) { driver in
            let cancel = ControlCommand(
                id: "1", action: .cancel, target: .campaign("c-7/"), author: "anna", issuedAt: 0)
            driver.app.follow(RouteControl(campaigns: CampaignIndex([cancel])))
            let count = RouteSettlement.mostSettledUnsent + 100
            for _ in 0..<count { driver.deliver(.normal, token: Self.good, campaign: "c-7/1") }
            let settled = { driver.app.tally.counters.outcomes.count(of: .cancelled) }
            #expect(driver.turn() == .milliseconds(1) && settled() == RouteSettlement.mostSettledUnsent)
            #expect(driver.turn() > .milliseconds(1) && settled() == count)
            #expect(driver.app.tally.counters.requests == 1, "only the first one, of no campaign")
        }
    }
}
