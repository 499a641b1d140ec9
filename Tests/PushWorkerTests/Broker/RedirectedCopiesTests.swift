import Testing

@testable import PushWorker

@Suite("Copies for a tier that the broker lacks", .timeLimit(.minutes(1)))
final class RedirectedCopiesTests {
    private final class Item: StallingPublication {
        let route: Int
        let destination: Publication.Destination?
        let name: String
        var isInLine = false
        var closings = 0

        init(_ name: String, route: Int = 0, to destination: Publication.Destination) {
            (self.name, self.route, self.destination) = (name, route, destination)
        }
    }

    private static let missing = Publication.Destination.retry(tier: 5)
    private var trials = ChannelTrials<Item>()

    private func takes(_ item: Item) -> Bool { trials.takes(item) }
    private func next() -> [String] { trials.next().map(\.name) }

    /// Takes out what can go another way.
    private func take() -> [String]? {
        trials.takeClosed { $0.destination == Self.missing && !$0.isInLine }.map { taken in
            #expect(taken.destination == Self.missing)
            return taken.items.map(\.name)
        }
    }

    @Test("One that cost the channel alone goes another way, and others that come later are not held")
    func alone() {
        trials.channelClosed([Item("a", to: Self.missing)])
        #expect(take() == ["a"] && take() == nil)
        #expect(trials.isEmpty && !trials.hasNext)
        #expect(!takes(Item("b", to: Self.missing)))
    }

    @Test("Among others, the exchange is found out first, and all that wait for it go")
    func others() {
        trials.channelClosed([
            Item("result", to: .results), Item("a", to: Self.missing), Item("b", route: 1, to: Self.missing),
            Item("letter", to: .dead),
        ])
        #expect(take() == nil, "nobody knows which it was")
        #expect(takes(Item("c", to: Self.missing)))
        #expect(next() == ["result"])
        #expect(take() == nil)
        trials.failed()
        #expect(take() == nil, "results do not go another way")
        #expect(next() == ["a"])
        trials.failed()
        #expect(take() == ["a", "b", "c"])
        #expect(trials.count(of: 1) == 0 && trials.count(of: 0) == 2)
        #expect(next() == ["letter"])
    }

    @Test("One that a queue refused before stays, and so does its exchange")
    func inLine() {
        let refused = Item("refused", to: Self.missing)
        refused.isInLine = true
        trials.channelClosed([refused])
        #expect(take() == nil)
        #expect(takes(Item("b", to: Self.missing)))
        #expect(take() == ["b"])
        #expect(takes(Item("c", to: Self.missing)) && trials.count(of: 0) == 2)
    }
}
