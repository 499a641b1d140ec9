import PushModel
import Testing

@testable import PushWorker
@testable import WorkerSettings

@Suite("Which routes a running worker has", .timeLimit(.minutes(1)))
struct RouteRosterTests {
    private static func route(_ name: String, rate: Double? = nil, topics: [String] = []) -> RouteConfiguration {
        RouteConfiguration(
            name: name, environment: .production, topics: ["com.example.\(name)"] + topics, credential: "key",
            connections: .automatic, highLane: false, highShare: 25, rate: rate, omitTopic: false)
    }

    /// Two routes.
    private static func roster() -> RouteRoster {
        var roster = RouteRoster([route("a"), route("b")])
        roster.began(0, queues: 2)
        roster.began(1, queues: 3)
        return roster
    }

    @Test("Routes are numbered in their order, and the one that answers lost jobs has the number behind them")
    func start() {
        var roster = Self.roster()
        #expect(roster.names == ["a", "b", "unrouted"] && roster.served == ["a", "b", nil])
        #expect(roster.queues == 5 && roster.hasBegun(0))
        #expect(roster.want([Self.route("b"), Self.route("a")]) == [], "their order is of no importance")
    }

    @Test("A route that comes gets a free number")
    func added() {
        var roster = Self.roster()
        let (c, d) = (Self.route("c"), Self.route("d"))
        #expect(roster.want([c, Self.route("a"), d, Self.route("b")]) == [.add(3, c), .add(4, d)])
        #expect(roster.names == ["a", "b", "unrouted", "c", "d"])
    }

    @Test("A route that goes keeps its number until the lane is done with it")
    func removed() {
        var roster = Self.roster()
        #expect(roster.want([Self.route("b")]) == [.remove(0)])
        #expect(roster.names == ["a", "b", "unrouted"] && roster.served == [nil, "b", nil])
        #expect(roster.want([Self.route("b")]) == [], "it is told once")
        #expect(roster.queues == 5)
        let end = roster.left(0)
        #expect(end?.name == "a" && end?.steps == [])
        #expect(roster.names == [nil, "b", "unrouted"] && roster.queues == 3)
        #expect(roster.left(0) == nil && roster.left(1) == nil)
        let c = Self.route("c")
        #expect(roster.want([Self.route("b"), c]) == [.add(0, c)])
    }

    @Test("A route that changed begins again once it is gone, as the configuration has it by then")
    func changed() {
        var roster = Self.roster()
        #expect(roster.want([Self.route("a"), Self.route("b", topics: ["com.example.more"])]) == [.remove(1)])
        let latest = Self.route("b", rate: 5, topics: ["com.example.most"])
        #expect(roster.want([Self.route("a"), latest]) == [])
        #expect(roster.left(1)?.steps == [.add(1, latest)])
        // Taken back in the middle, it still begins again: it takes no jobs any more.
        roster.began(1, queues: 2)
        #expect(roster.want([Self.route("a")]) == [.remove(1)])
        #expect(roster.want([Self.route("a"), latest]) == [])
        #expect(roster.left(1)?.steps == [.add(1, latest)])
    }

    @Test("A route goes on with another rate, and with another queue for copies of its results")
    func rates() {
        var roster = Self.roster()
        var (slow, copied) = (Self.route("a", rate: 5), Self.route("b"))
        copied.resultsQueue = "apns.q.results.b"
        #expect(roster.want([slow, copied]) == [.limit(0, slow)])
        #expect(roster.want([slow, copied]) == [])
        slow.rate = nil
        #expect(roster.want([slow, copied]) == [.limit(0, slow)])
    }

    @Test("A route that could not begin has nothing to finish")
    func unplaced() {
        var roster = Self.roster()
        #expect(roster.want([Self.route("a"), Self.route("b"), Self.route("c")]).count == 1)
        let changed = Self.route("c", topics: ["com.example.more"])
        #expect(roster.want([Self.route("a"), Self.route("b"), changed]) == [.add(3, changed)])
        #expect(roster.want([Self.route("a"), Self.route("b")]) == [])
        #expect(roster.names == ["a", "b", "unrouted", nil])
    }
}
