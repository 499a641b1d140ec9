import EventLoop
import Testing

@testable import PushWorker

@Suite("Publications that the broker refuses", .timeLimit(.minutes(1)))
final class RefusedPublicationsTests {
    private final class Item: StallingPublication {
        let route: Int
        let destination: Publication.Destination?
        let number: Int
        var isInLine = false
        var closings = 0

        init(_ number: Int, route: Int = 0, to destination: Publication.Destination = .results) {
            (self.number, self.route, self.destination) = (number, route, destination)
        }
    }

    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var random = SystemRandomNumberGenerator()
    private var refused = RefusedPublications<Item>()

    private func refuse(_ items: [Item], at time: MonotonicTime = start) {
        for item in items { refused.refused(item, trouble: "results_full", now: time, random: &random) }
    }

    private func takes(_ item: Item) -> Bool { refused.takes(item) }
    private func due(_ time: MonotonicTime) -> [Int] { refused.due(now: time).map(\.number) }

    @Test("of all that a full queue refused one goes out per backoff, each in turn")
    func probes() throws {
        let items = (0..<100).map { Item($0) }
        refuse(items)
        #expect(due(Self.start).isEmpty)
        var now = Self.start
        for number in 0..<5 {
            now = try #require(refused.nextDue)
            #expect(now > Self.start && due(now) == [number] && due(now).isEmpty)
            refuse([items[number]], at: now)
        }
        #expect(refused.count(of: 0) == 100 && refused.trouble(of: 0) == "results_full")
        #expect(now - Self.start <= .seconds(5) && refused.count(of: 1) == 0)
    }

    @Test("a route that publishes all the time leaves its line once the broker takes what is in it")
    func constantTraffic() throws {
        var number = 40
        refuse((0..<number).map { Item($0) })
        var now = try #require(refused.nextDue)
        var (out, gone) = ([Item](), 0)
        while !refused.isEmpty {
            // As many new ones as the broker answers, so that some are always out.
            out += refused.due(now: now)
            for item in out.prefix(2) { refused.confirmed(item) }
            out.removeFirst(min(2, out.count))
            for _ in 0..<2 {
                gone += takes(Item(number)) ? 0 : 1
                number += 1
            }
            now = now + .milliseconds(1)
            try #require(number < 1_000)
        }
        #expect(gone > 0 && refused.trouble(of: 0) == nil)
    }

    @Test("once one is taken the others follow, twice as many with each answer, and the line is over after the last")
    func recovery() throws {
        let items = (0..<100).map { Item($0) }
        refuse(items)
        var now = try #require(refused.nextDue)
        var sizes: [Int] = []
        while !refused.isEmpty {
            let out = refused.due(now: now)
            sizes.append(out.count)
            for item in out { refused.confirmed(item) }
            now = now + .milliseconds(1)
        }
        #expect(sizes == [1, 2, 4, 8, 16, 32, 37])
        #expect(items.allSatisfy { !$0.isInLine } && refused.trouble(of: 0) == nil && refused.nextDue == nil)
    }

    @Test("a refusal amid the recovery stops it until one is taken again")
    func relapse() throws {
        let items = (0..<20).map { Item($0) }
        refuse(items)
        var now = try #require(refused.nextDue)
        refused.due(now: now).forEach { refused.confirmed($0) }
        let two = refused.due(now: now)
        refused.confirmed(two[0])
        refuse([two[1]], at: now)
        #expect(due(now).isEmpty)
        now = try #require(refused.nextDue)
        #expect(due(now) == [3])
    }

    @Test("new publications line up behind those of their route and exchange, and behind no others")
    func ways() {
        refuse([Item(0)])
        let (same, other, dead) = (Item(1), Item(2, route: 1), Item(3, to: .dead))
        #expect(takes(same) && !takes(other) && !takes(dead))
        #expect(refused.count(of: 0) == 2 && refused.count(of: 1) == 0 && refused.routes == [0])
    }

    @Test("what a lost connection took along goes out again before what waits behind it")
    func lost() throws {
        let items = (0..<8).map { Item($0) }
        refuse(items)
        let now = try #require(refused.nextDue)
        refused.due(now: now).forEach { refused.confirmed($0) }
        let out = refused.due(now: now)
        #expect(out.map(\.number) == [1, 2])
        refused.lost(out)
        #expect(due(now) == [1])
    }

    @Test("the waits grow while refusals go on, and begin again after ten seconds without")
    func backoff() throws {
        let item = Item(0)
        var (now, longest) = (Self.start, Duration.zero)
        for _ in 0..<20 {
            refuse([item], at: now)
            let next = try #require(refused.nextDue)
            longest = max(longest, next - now)
            now = next
            #expect(due(now) == [0])
        }
        #expect(longest > .seconds(1))
        refused.confirmed(item)
        now = now + .seconds(11)
        #expect(due(now).isEmpty)
        refuse([item], at: now)
        #expect(try #require(refused.nextDue) - now <= .milliseconds(100))
    }
}
