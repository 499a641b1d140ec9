import EventLoop
import Testing

@testable import PushWorker

@Suite("Places for unconfirmed publications", .timeLimit(.minutes(1)))
final class PublishWindowTests {
    private final class Item: StallingPublication {
        let route: Int
        let destination: Publication.Destination? = .results
        var isInLine = false
        var closings = 0

        init(_ route: Int) { self.route = route }
    }

    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var window = PublishWindow<Item>(size: 1_000)

    private func publish(_ route: Int, at time: MonotonicTime = start) { window.published(route, now: time) }

    /// Publishes for a route as long as it has a place, and says how many were published.
    private func fill(_ route: Int, at time: MonotonicTime = start) -> Int {
        var count = 0
        while window.hasPlace(for: route) {
            publish(route, at: time)
            count += 1
        }
        return count
    }

    @Test("a route alone has half of the window, and others beside it still have places")
    func alone() {
        #expect(fill(7) == 500)
        publish(0)
        #expect(window.hasPlace(for: 0) && !window.hasPlace(for: 7))
    }

    @Test("beside another route each has few places, and some that are never answered leave places to the next")
    func many() {
        publish(0)
        // The first one does not know yet that it is not alone.
        publish(1)
        let taken = (1...10).map { fill($0) }
        #expect(taken[0] == PublishWindow<Item>.mostOfOne - 1 && taken.allSatisfy { $0 > 0 })
        #expect(window.hasPlace(for: 11))
        for _ in 0..<taken[0] { window.answered(1) }
        #expect(fill(1) > 0)
    }

    @Test("replies without confirms are never so many that RabbitMQ stops reading the connection, and no route has all")
    func replies() {
        window = PublishWindow(size: PublishChannels.replyWindow)
        let taken = (0..<7).map { fill($0) }
        #expect(taken.reduce(0, +) < 400 && taken[0] == PublishChannels.replyWindow / 2)
        #expect(window.hasPlace(for: 10))
    }

    @Test("a route that published once, long ago, does not limit another one")
    func longAgo() {
        publish(0)
        window.answered(0)
        publish(1)
        _ = fill(1)
        #expect(!window.hasPlace(for: 1))
        window.passTime(now: Self.start + .seconds(9))
        #expect(!window.hasPlace(for: 1))
        window.passTime(now: Self.start + .seconds(10))
        #expect(fill(1, at: Self.start + .seconds(10)) > 300)
    }

    @Test("what has no place waits and goes out in its order")
    func held() {
        publish(0)
        publish(1)
        _ = fill(1)
        let items = (0..<10).map { _ in Item(1) }
        for item in items { window.hold(item) }
        #expect(window.count(of: 1) == 10 && window.routes == [1] && window.ready.isEmpty)
        for _ in 0..<4 { window.answered(1) }
        #expect(window.ready == [1])
        for item in items.prefix(4) {
            #expect(window.first(of: 1) === item)
            publish(1)
            window.removeFirst(of: 1)
        }
        #expect(window.ready.isEmpty)
        window.removeAll { $0 === items[4] }
        #expect(window.reset().count == 5 && window.isEmpty && window.hasPlace(for: 1))
    }
}
