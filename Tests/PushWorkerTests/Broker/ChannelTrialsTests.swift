import Testing

@testable import PushWorker

@Suite("Publications that cost the channel", .timeLimit(.minutes(1)))
final class ChannelTrialsTests {
    private final class Item: StallingPublication, CustomStringConvertible {
        let route: Int
        let destination: Publication.Destination?
        let description: String
        var isInLine = false
        var closings = 0

        init(_ name: String, route: Int = 0, to destination: Publication.Destination = .results) {
            (description, self.route, self.destination) = (name, route, destination)
        }
    }

    private var trials = ChannelTrials<Item>()
    private var out: [Item] = []

    private func takes(_ item: Item) -> Bool { trials.takes(item) }
    private func next() -> [String] {
        out = trials.next()
        return out.map(\.description)
    }
    /// All that are tried are confirmed.
    private func succeeded() -> [String] { out.flatMap { trials.succeeded($0) }.map(\.description) }

    @Test("one publication of each exchange is tried, and the others follow where it is confirmed")
    func representatives() {
        let copy = Item("copy", to: .retry(tier: 1))
        trials.channelClosed([Item("a"), copy, Item("b"), Item("letter", to: .dead), Item("c")])
        #expect(trials.isUrgent && takes(Item("d")) && !takes(Item("other", to: .retry(tier: 0))))
        #expect(next() == ["a"] && !trials.hasNext)
        #expect(succeeded() == ["b", "c", "d"])
        #expect(next() == ["copy", "letter"])
        trials.failed()
        #expect(trials.isUrgent && next() == ["copy"])
        trials.failed()
        #expect(next() == ["letter"] && succeeded() == [] && !trials.isUrgent)
        #expect(takes(Item("copy 2", to: .retry(tier: 1))) && !takes(Item("e")))
    }

    @Test(
        "an exchange that is missing is asked with each that waits for it in turn, and is open with the first confirm")
    func missing() {
        trials.channelClosed([Item("a", to: .dead)])
        #expect(!trials.isUrgent, "it was alone")
        for name in ["b", "c"] { #expect(takes(Item(name, to: .dead))) }
        for name in ["b", "c", "a", "b"] {
            #expect(next() == [name])
            trials.failed()
        }
        #expect(takes(Item("d", to: .dead)) && trials.count(of: 0) == 4)
        #expect(next() == ["d"] && succeeded() == [])
        #expect(!takes(Item("e", to: .dead)))
        for name in ["c", "a", "b"] { #expect(next() == [name] && succeeded() == []) }
        #expect(trials.isEmpty && trials.routes.isEmpty)
    }

    @Test("a message that costs the channel each time is found out, and no other waits for it in the end")
    func message() {
        let (a, bad, b) = (Item("a"), Item("bad"), Item("b"))
        trials.channelClosed([a, bad, b])
        #expect(next() == ["a"] && succeeded() == ["bad", "b"])
        trials.channelClosed([bad, b, Item("c")])
        // Twice is suspicious.
        #expect(next() == ["bad"])
        trials.failed()
        #expect(!trials.isUrgent && next() == ["c"])
        #expect(succeeded() == [] && next() == ["b"] && succeeded() == [])
        #expect(next() == ["bad"])
        trials.failed()
        #expect(!takes(Item("d")) && trials.count(of: 0) == 1, "its exchange stays open")
        #expect(next() == ["bad"] && succeeded() == [] && trials.isEmpty)
    }

    @Test("exchanges that are missing are asked in turn")
    func turns() {
        trials.channelClosed([Item("a", to: .dead), Item("b", route: 1, to: .retry(tier: 0))])
        for name in ["a", "b", "a", "b", "a"] {
            #expect(next() == [name])
            trials.failed()
        }
        #expect(trials.routes == [0, 1] && trials.count(of: 1) == 1)
    }

    @Test("what will never be sent says nothing about its exchange, and keeps nobody from being tried")
    func gaveUp() {
        trials.channelClosed([Item("a")])
        #expect(takes(Item("b")) && next() == ["b"])
        trials.gaveUp(out[0])
        #expect(trials.count(of: 0) == 1 && takes(Item("c")) && next() == ["c"])
        trials.gaveUp(out[0])
        #expect(next() == ["a"])
        trials.gaveUp(out[0])
        #expect(trials.isEmpty && !takes(Item("d")))
    }

    @Test("where the one that was tried for an exchange will never be sent, another is tried in its place")
    func substitute() {
        let copies = ["a", "b", "c"].map { Item($0, to: .retry(tier: 1)) }
        trials.channelClosed(copies + [Item("letter", to: .dead)])
        #expect(next() == ["a"])
        trials.gaveUp(out[0])
        #expect(trials.isUrgent && next() == ["letter"] && succeeded() == [])
        #expect(next() == ["b"] && succeeded() == ["c"] && trials.isEmpty)
    }

    @Test("where one of several that are tried for an exchange will never be sent, the others decide")
    func others() {
        let copies = ["a", "b"].map { Item($0, to: .retry(tier: 1)) }
        for copy in copies { copy.closings = 1 }
        trials.channelClosed([Item("letter", to: .dead)] + copies + [Item("c", to: .retry(tier: 1))])
        #expect(next() == ["letter"] && succeeded() == [])
        #expect(next() == ["a", "b"])
        trials.gaveUp(out[0])
        #expect(!trials.isUrgent, "b is out")
        #expect(trials.succeeded(out[1]).map(\.description) == ["c"] && trials.isEmpty)
    }

    @Test("what was out when the connection went is tried again")
    func putBack() {
        trials.channelClosed([Item("a"), Item("b")])
        #expect(next() == ["a"])
        trials.putBack()
        #expect(next() == ["a"] && succeeded() == ["b"] && trials.isEmpty)
    }

    @Test("of many that were unconfirmed twice the one that costs the channel is found with few closings")
    func batches() {
        let items = (0..<500).map { Item("\($0)") }
        for item in items { item.closings = 1 }
        trials.channelClosed(items)
        var (closings, confirmed) = (0, 0)
        while trials.isUrgent {
            out = trials.next()
            // The broker works on one after the other.
            let good = out.prefix { $0.description != "300" }
            confirmed += good.count
            for item in good { _ = trials.succeeded(item) }
            guard good.count < out.count else { continue }
            closings += 1
            trials.failed()
        }
        while next() != ["300"] {
            confirmed += out.count
            confirmed += succeeded().count
        }
        #expect(closings <= 9 && confirmed == 499 && trials.count(of: 0) == 1)
    }
}
