import APNSClient
import BrokerClient
import Dispatch
import EventLoop
import Logging
import PushModel
import RabbitMQ
import Synchronization
import TLS
import TestSupport
import Testing
import Text

@testable import PushWorker
@testable import WorkerSettings

@Suite("A lane and a broker that misbehaves", .timeLimit(.minutes(1)))
struct LaneBrokerTests {
    /// The settings of a lane with the route that answers jobs nobody claims.
    func settings(_ broker: BrokerConfiguration) throws -> LaneSettings {
        var settings = LaneSettings(
            routes: [LaneSettings.RouteSettings(name: WorkerBuilder.unrouted, queues: ["jobs"])],
            routeCount: 0, credentials: try CredentialStore([], trust: TrustRoots(systemRoots: false, files: [])),
            instance: "test", broker: broker, policy: RetryPolicy(), tierNames: [], version: "test",
            replyPattern: try ReplyPattern("apns.q.reply.*"), includesDeviceToken: false,
            pool: APNSPoolConfiguration(requestTimeout: .seconds(1), pingInterval: .seconds(60)))
        // All at once, after a look at the first.
        settings.prefetch = 2_000
        return settings
    }

    /// A lane on its own thread.
    func start(
        _ broker: FakeBroker, logger: Logger = Logger(label: "lane") { _ in SwiftLogNoOpLogHandler() },
        _ change: (inout LaneSettings) -> Void = { _ in }
    ) throws -> LaneHandle {
        let handle = LaneHandle()
        var settings = try settings(broker.configuration)
        change(&settings)
        let made = settings
        _ = try LoopThread.start(name: "lane") {
            do {
                try Lane(settings: made, handle: handle, logger: logger).run()
            } catch {
                Issue.record("\(error)")
            }
        }
        return handle
    }

    @Test("a broker that takes a connection and says nothing costs two seconds, and the next attempt gets more time")
    func mute() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(greets: { $0 > 2 }))
        defer { broker.stop() }
        let lines = LogLines()
        let handle = try start(broker, logger: lines.logger)
        for await event in broker.events {
            if case .acknowledged = event { break }
        }
        let failures = lines.all.filter { $0.hasPrefix("no connection to the broker") }
        #expect(failures.count == 2, "\(failures)")
        #expect(failures.first?.contains("no answer to the login") == true && failures.first?.contains("2.0 s") == true)
        #expect(failures.last?.contains("4.0 s") == true)
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("a channel for results that never opens ends the connection, and another one is tried")
    func noChannel() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 3, opensChannels: { $0 > 1 }))
        defer { broker.stop() }
        let handle = try start(broker) { $0.confirmPatience = .milliseconds(300) }
        var acknowledgedBy: Int?
        var publisher: Int?
        for await event in broker.events {
            if case .publisher(let number) = event { publisher = number }
            if case .acknowledged(_, 3) = event {
                acknowledgedBy = publisher
                break
            }
        }
        #expect(acknowledgedBy == 2)
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test(
        "a broker that owes one route an answer costs the connection, and meanwhile the route beside it is served",
        arguments: [
            (20, 10, "open a channel for route unrouted-1"), (60, 10, "set a prefetch of 1 for route unrouted-1"),
            (60, 20, "start a consumer of queue jobs-1 for route unrouted-1"),
            (60, 30, "cancel the consumer of queue jobs-1 for route unrouted-1"),
        ])
    func noAnswer(classID: Int, methodID: Int, words: String) async throws {
        // The publish connection comes first, then that which consumes; the second route has the second channel.
        let ignored = FakeBroker.Request(connection: 2, channel: 2, classID: classID, methodID: methodID)
        let requests = Mutex<[FakeBroker.Request]>([])
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliversOnEveryChannel: true,
                heeds: { request in
                    requests.withLock { $0.append(request) }
                    return request != ignored
                }))
        defer { broker.stop() }
        let lines = LogLines()
        let handle = try start(broker, logger: lines.logger) { settings in
            settings.requestPatience = .milliseconds(700)
            settings.routes = (0...1).map {
                LaneSettings.RouteSettings(name: "\(WorkerBuilder.unrouted)-\($0)", queues: ["jobs-\($0)"])
            }
        }
        let acknowledgement = FakeBroker.Request(connection: 3, channel: 2, classID: 60, methodID: 80)
        for await _ in broker.events where requests.withLock({ $0.contains(acknowledgement) }) { break }
        let seen = requests.withLock { $0 }
        #expect(seen.filter { $0 == ignored }.count == 1)
        #expect(
            seen.contains(FakeBroker.Request(connection: 2, channel: 1, classID: 60, methodID: 80)),
            "the route beside it had its job settled")
        let failures = lines.all.filter { $0.hasPrefix("no connection to the broker") }
        #expect(failures.count == 1 && failures[0].contains(words), "\(failures)")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("a broker that delivers more than the prefetch allows loses the connection, and the jobs come on another")
    func overrun() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 50, heedsPrefetch: { $0 > 2 }))
        defer { broker.stop() }
        let lines = LogLines()
        let handle = try start(broker, logger: lines.logger) { $0.prefetch = 20 }
        for await event in broker.events where event == .acknowledged(consumer: 2, tag: 50) { break }
        let failures = lines.all.filter { $0.hasPrefix("no connection to the broker") }
        #expect(failures.count == 1 && failures[0].contains("its prefetch allows 1"), "\(failures)")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
        let counters = try #require(handle.metrics.latest.routes.last ?? nil)
        #expect(counters.jobsReceived == 52, "the first beyond the limit is the last that is taken in")
    }

    @Test("while results are refused the lane stops consuming and drops nothing; once they are taken it goes on")
    func refusals() async throws {
        let isFull = Mutex(true)
        let count = 2 * Publisher.congestion
        let plan = FakeBroker.Behaviour(
            deliveries: count, answer: { _ in isFull.withLock { $0 } ? .refuses : .confirms })
        let broker = try FakeBroker(plan)
        defer { broker.stop() }
        let handle = try start(broker) { $0.heldUpLimit = .milliseconds(300) }
        var ids: Set<String> = []
        // The first is for a wider window, once the first job was looked at.
        var (cancels, isBack, acknowledgements) = (0, false, 0)
        for await event in broker.events {
            switch event {
            case .published(_, let exchange, let id): ids.insert("\(exchange) \(id)")
            case .cancelled:
                cancels += 1
                // A later one is for a wider window again.
                #expect(acknowledgements == 0 || cancels > 2)
                if cancels == 2 { isFull.withLock { $0 = false } }
            case .acknowledged: acknowledgements += 1
            case .consumer: isBack = cancels >= 2
            default: break
            }
            if isBack, acknowledgements > 0, ids.count == 2 * count { break }
        }
        #expect(cancels >= 2)
        #expect(ids.count == 2 * count, "a result and a dead letter each")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained, "every delivery is acknowledged")
    }

    @Test("a reply that its exchange returns goes straight to its queue, and the result says nothing of it")
    func replyToQueue() async throws {
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliveries: 3, replyTo: "apns.q.reply.someone", returns: { exchange, _ in exchange == "apns.replies" }))
        defer { broker.stop() }
        let handle = try start(broker)
        var published: [String: Set<String>] = [:]
        for await event in broker.events {
            if case .published(_, let exchange, let id) = event { published[exchange, default: []].insert(id) }
            if case .acknowledged(_, 3) = event { break }
        }
        #expect(published["apns.replies"]?.count == 3)
        #expect(published[""] == published["apns.replies"] && published["apns.results"] == published["apns.replies"])
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        let counters = try #require(handle.metrics.latest.routes.last ?? nil)
        #expect(counters.repliesLost == 0)
    }

    @Test("a broker that refuses the default exchange is asked once, and other replies go on")
    func refusedDefaultExchange() async throws {
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliveries: 3, replyTo: "apns.q.reply.someone",
                returns: { exchange, _ in exchange == "apns.replies" },
                closesChannel: { exchange, _ in exchange == "" },
                closing: (403, "ACCESS_REFUSED - access to exchange 'amq.default' refused")))
        defer { broker.stop() }
        let handle = try start(broker)
        var closings = 0
        for await event in broker.events {
            if case .closed = event { closings += 1 }
            if case .acknowledged(_, 3) = event { break }
        }
        #expect(closings == 1)
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
        let counters = try #require(handle.metrics.latest.routes.last ?? nil)
        #expect(counters.repliesLost == 3)
    }

    @Test("where one of two results that look the same comes back, both are published again, for it could be either")
    func twins() async throws {
        // Two results and two dead letters are confirmed together, once the second result has come back.
        let plan = FakeBroker.Behaviour(
            deliveries: 2, jobID: "twin", firstAnswered: 4, returns: { $0 == "apns.results" && $1 == 3 })
        let broker = try FakeBroker(plan)
        defer { broker.stop() }
        let handle = try start(broker)
        var published: [String: Int] = [:]
        var ids: Set<String> = []
        for await event in broker.events {
            if case .published(_, let exchange, let id) = event {
                published[exchange, default: 0] += 1
                if exchange == "apns.results" { ids.insert(id) }
            }
            if case .acknowledged(_, 2) = event { break }
        }
        #expect(published == ["apns.results": 4, "apns.dead": 2])
        #expect(ids.count == 1, "whoever reads results can tell which are the same")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("what costs the channel waits alone, and everything else goes out meanwhile")
    func missingExchange() async throws {
        let isMissing = Mutex(true)
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliveries: 40, closesChannel: { exchange, _ in exchange == "apns.dead" && isMissing.withLock { $0 } }))
        defer { broker.stop() }
        let handle = try start(broker)
        var published: [String: Set<String>] = [:]
        var (closings, acknowledged): (Int, UInt64) = (0, 0)
        for await event in broker.events {
            switch event {
            case .published(_, let exchange, let id): published[exchange, default: []].insert(id)
            case .closed: closings += 1
            case .acknowledged(_, let tag): acknowledged = max(acknowledged, tag)
            default: break
            }
            // All results are out, and the exchange has been asked for again and again since.
            if published["apns.results"]?.count == 40, closings >= 6 { isMissing.withLock { $0 = false } }
            if acknowledged == 40 { break }
            #expect(acknowledged == 0 || !isMissing.withLock { $0 }, "nothing is acknowledged without its dead letter")
        }
        #expect(published["apns.dead"]?.count == 40 && published["apns.results"]?.count == 40)
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("one publication that always costs the channel does not keep back the others for its exchange")
    func culprit() async throws {
        let culprit = Mutex<String?>(nil)
        let isBad = Mutex(true)
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliveries: 40,
                closesChannel: { exchange, id in
                    guard exchange == "apns.results", isBad.withLock({ $0 }) else { return false }
                    return culprit.withLock { known in
                        known = known ?? id
                        return known == id
                    }
                }))
        defer { broker.stop() }
        let handle = try start(broker)
        var acknowledged: Set<UInt64> = []
        for await event in broker.events {
            guard case .acknowledged(_, let tag) = event else { continue }
            acknowledged.insert(tag)
            // Each alone, because the first of all is not.
            if acknowledged.count == 39 { isBad.withLock { $0 = false } }
            if acknowledged.count == 40 { break }
        }
        #expect(acknowledged == Set(1...40))
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test(
        "a lane that stood still for longer than two heartbeats, as agreed on at login, takes its connections for lost",
        arguments: [(60, .seconds(2)), (1, nil)] as [(UInt16, Duration?)])
    func standstill(heartbeat: UInt16, limit: Duration?) async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(heartbeat: heartbeat))
        defer { broker.stop() }
        let lines = LogLines()
        // What a lane logs is logged on its thread.
        let held = Mutex(false)
        lines.onLine = { line in
            guard line.hasPrefix("connected to the broker"), line.contains("consume") else { return }
            let isFirst = held.withLock { held in
                defer { held = true }
                return !held
            }
            if isFirst { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(2_500)) }
        }
        let handle = try start(broker, logger: lines.logger) { $0.standstill = limit }
        for await event in broker.events where event == .consumer(1) || event == .consumer(2) {
            if lines.all.contains(where: { $0.hasPrefix("a lane stood still") }) { break }
        }
        let losses = lines.all.filter { $0.hasPrefix("no connection to the broker") }
        // With a heartbeat that short the connection itself may notice first, in the turn that stood.
        #expect(losses.contains { limit == nil || $0.contains("stood still") })
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.metrics.latest.lane.standstills >= 1)
    }

    @Test("two of the shortest heartbeat there is are a standstill, the configured one while there is no other")
    func heartbeats() throws {
        var settings = try settings(
            BrokerConfiguration(
                uris: ["amqp://me:me@127.0.0.1/", "amqp://me:me@[::1]/?heartbeat=7"].map { SecretText($0) },
                allowsPlaintext: false, heartbeat: .seconds(15), tls: BrokerTLSConfiguration()))
        #expect(settings.longestStandstill() == 14_000)
        #expect(settings.longestStandstill(negotiated: [0, 0]) == 14_000)
        #expect(settings.longestStandstill(negotiated: [10]) == 20_000)
        #expect(settings.longestStandstill(negotiated: [10, 3]) == 6_000)
        #expect(settings.longestStandstill(negotiated: [0, 30]) == 60_000)
        settings.standstill = .seconds(2)
        #expect(settings.longestStandstill(negotiated: [10, 3]) == 2_000)
    }

    @Test("the connection that consumes waits for the one that publishes, and follows it without a pause of its own")
    func follows() throws {
        let broker = try FakeBroker()
        defer { broker.stop() }
        let lane = try Lane(
            settings: try settings(broker.configuration), handle: LaneHandle(),
            logger: Logger(label: "lane") { _ in SwiftLogNoOpLogHandler() })
        let (consume, publish) = (lane.consumeLink, lane.publishLink)
        #expect(consume.nextDue(now: .now()) == nil, "the other one has to open first")
        // Its pause ends in an hour.
        consume.failed(AMQPError(.connectionLost, "for the test"), now: .now().adding(.seconds(3_600)))

        publish.tick(now: .now())
        let targets = try BrokerTarget.find(AMQPEndpoint(host: "broker.test")) { _, _ in
            [SocketAddress.loopback(port: broker.port)]
        }
        publish.found(.success(targets), number: 1, now: .now())
        while publish.session == nil { try lane.loop.turn(waitingAtMost: .milliseconds(20)) { _ in } }
        let due = try #require(consume.nextDue(now: .now()))
        #expect(due <= .now(), "it follows at once")
        publish.close(within: .seconds(2))
        consume.close(within: .seconds(2))
    }

    @Test("a turn looks at the routes that something happened to, however many others there are")
    func manyRoutes() async throws {
        let count = 200
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 2_000))
        defer { broker.stop() }
        let handle = try start(broker) { settings in
            settings.routes = (0..<count).map {
                LaneSettings.RouteSettings(name: "\(WorkerBuilder.unrouted)-\($0)", queues: ["jobs-\($0)"])
            }
            settings.routeCount = count
        }
        // Each route looks at what stands first in its queue, then it wants more.
        var (acknowledged, consumers, cancelled): (UInt64, Int, Int) = (0, 0, 0)
        for await event in broker.events {
            switch event {
            case .acknowledged(_, let tag): acknowledged = max(acknowledged, tag)
            case .consumer: consumers += 1
            case .cancelled: cancelled += 1
            default: break
            }
            if acknowledged == 2_000, cancelled >= count, consumers >= 2 * count { break }
        }
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(10))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
        let counted = handle.metrics.latest.lane
        // Opening a channel, a prefetch and a consumer, all that once more with a wider window, and the end.
        let expected = 16 * count + 2 * counted.turns
        #expect(counted.routeTurns <= expected, "\(counted.routeTurns) in \(counted.turns) turns")
    }
}
