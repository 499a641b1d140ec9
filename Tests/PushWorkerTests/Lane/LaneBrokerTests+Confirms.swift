import EventLoop
import Synchronization
import Testing

@testable import PushWorker

// A broker that does not confirm.
extension LaneBrokerTests {
    /// What each publishing connection carried, as exchange and message id, until a delivery was acknowledged, with all
    /// before it or alone; and how many connections there were by then.
    private func untilAcknowledged(
        _ delivery: UInt64, by broker: FakeBroker
    ) async -> (published: [Int: Set<String>], acknowledgedBy: Int?) {
        var published: [Int: Set<String>] = [:]
        for await event in broker.events {
            if case .published(let publisher, let exchange, let id) = event {
                published[publisher, default: []].insert("\(exchange) \(id)")
            }
            if case .acknowledged(_, delivery) = event { return (published, published.keys.max()) }
        }
        return (published, nil)
    }

    @Test("confirms that never come end the connection, and the same messages are published on another")
    func noConfirm() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 3, answer: { $0 > 2 ? .confirms : .keepsSilent }))
        defer { broker.stop() }
        let handle = try start(broker) { $0.confirmPatience = .milliseconds(1500) }
        let (published, acknowledgedBy) = await untilAcknowledged(3, by: broker)
        #expect(published[1]?.count == 6, "three results and three dead letters")
        #expect(published[2] == published[1] && published[3] == published[1])
        #expect(acknowledgedBy == 3, "nothing is acknowledged before its result is confirmed")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
        let counters = try #require(handle.metrics.latest.routes.last ?? nil, "jobs nobody claims are counted too")
        #expect(counters.jobsReceived == 3)
        #expect(counters.outcomes.refused.entries.reduce(0) { $0 + $1.count } == 3)
    }

    @Test("batches of results that are never confirmed are published on another connection, as the same messages")
    func noConfirmOfBatches() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 3, answer: { $0 > 2 ? .confirms : .keepsSilent }))
        defer { broker.stop() }
        let handle = try start(broker) {
            $0.confirmPatience = .milliseconds(1500)
            $0.routes[0].resultsBatch = 10
        }
        let (published, acknowledgedBy) = await untilAcknowledged(3, by: broker)
        let results = published[1]?.filter { $0.hasPrefix("apns.results ") }.count ?? 0
        #expect((1...3).contains(results) && published[1]?.count == results + 3, "and three dead letters")
        #expect(published[2] == published[1] && published[3] == published[1])
        #expect(acknowledgedBy == 3, "nothing is acknowledged before its result is confirmed")
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("a publication that is not confirmed while others are goes out again, alone, on another connection")
    func oneUnconfirmed() async throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(deliveries: 3, ignores: { $0 == 1 && $2 == 3 }))
        defer { broker.stop() }
        let handle = try start(broker) { $0.confirmPatience = .milliseconds(1500) }
        var (published, publishers) = ([String](), 0)
        for await event in broker.events {
            if case .publisher = event { publishers += 1 }
            if case .published(_, let exchange, let id) = event { published.append("\(exchange) \(id)") }
            if published.count == 7 { break }
        }
        #expect(Set(published).count == 6 && published.dropLast().contains(published[6]))
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained && publishers == 2)
    }

    @Test("a publication that is tried and not confirmed does not hold up all others of its exchange")
    func triedAndUnconfirmed() async throws {
        // A dead letter costs the channel once, so that one result and one dead letter are tried on the third channel.
        let isFirst = Mutex(true)
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliveries: 3, ignores: { _, channel, _ in channel == 3 },
                closesChannel: { exchange, _ in
                    exchange == "apns.dead"
                        && isFirst.withLock { isFirst in
                            defer { isFirst = false }
                            return isFirst
                        }
                }))
        defer { broker.stop() }
        let handle = try start(broker) { $0.confirmPatience = .milliseconds(1500) }
        for await event in broker.events {
            if case .acknowledged(_, 3) = event { break }
        }
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
    }

    @Test("replies that are never confirmed are given up after one patience, and cost nobody the connection")
    func silentReplies() async throws {
        let broker = try FakeBroker(
            FakeBroker.Behaviour(
                deliveries: 3, silentExchange: "apns.replies", replyTo: "apns.q.reply.someone"))
        defer { broker.stop() }
        let handle = try start(broker) { $0.confirmPatience = .milliseconds(1500) }
        var (replies, results): (Set<String>, Set<String>) = ([], [])
        var publishers = 0
        for await event in broker.events {
            switch event {
            case .publisher: publishers += 1
            case .published(_, "apns.replies", let id): replies.insert(id)
            case .published(_, "apns.results", let id):
                #expect(replies.contains(id), "the result follows its reply's fate")
                results.insert(id)
            default: break
            }
            if case .acknowledged(_, 3) = event { break }
        }
        #expect(replies.count == 3 && results.count == 3 && publishers == 1)
        handle.post(.drain(deadline: MonotonicTime.now().adding(.seconds(20))))
        await handle.waitUntilEnded()
        #expect(handle.isDrained)
        let counters = try #require(handle.metrics.latest.routes.last ?? nil)
        #expect(counters.repliesLost == 3)
    }
}
