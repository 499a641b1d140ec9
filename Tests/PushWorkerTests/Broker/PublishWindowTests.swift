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

    private var window = PublishWindow<Item>(size: 1_000)

    /// Publishes for a route as long as it has a place, and says how many were published.
    private func fill(_ route: Int) -> Int {
        var count = 0
        while window.hasPlace(for: route) {
            window.published(route)
            count += 1
        }
        return count
    }

    @Test("a route alone has half of the window, and others beside it still have places")
    func alone() {
        #expect(fill(7) == 500)
        window.published(0)
        #expect(window.hasPlace(for: 0) && !window.hasPlace(for: 7))
    }

    @Test("beside another route each has few places, and some that are never answered leave places to the next")
    func many() {
        window.published(0)
        let taken = (1...10).map { fill($0) }
        #expect(taken[0] == PublishWindow<Item>.mostOfOne && taken.allSatisfy { $0 > 0 })
        #expect(window.hasPlace(for: 11))
        for _ in 0..<taken[0] { window.answered(1) }
        #expect(fill(1) > 0)
    }

    @Test("what has no place waits and goes out in its order, as many as there are places again")
    func held() {
        window.published(0)
        _ = fill(1)
        let items = (0..<10).map { _ in Item(1) }
        for item in items { window.hold(item) }
        #expect(window.count(of: 1) == 10 && window.routes == [1] && !window.hasReleasable)
        #expect(window.release().isEmpty)
        for _ in 0..<4 { window.answered(1) }
        #expect(window.hasReleasable)
        var released: [Item] = []
        while window.hasReleasable {
            for item in window.release() {
                window.published(item.route)
                released.append(item)
            }
        }
        #expect(released.count == 4 && zip(released, items).allSatisfy { $0 === $1 })
        #expect(window.reset().count == 6 && window.isEmpty && window.hasPlace(for: 1))
    }
}
