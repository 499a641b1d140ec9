import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("Which routes a turn of a lane looks at", .timeLimit(.minutes(1)))
struct RouteAgendaTests: RouteSuite {
    private var routes: [Route] = []

    init() throws { routes = try (0..<3).map { try route(number: $0, position: $0) } }

    /// The positions of the routes that the next turn looks at.
    private func begin(_ agenda: inout RouteAgenda) -> [Int] {
        agenda.begin()
        return agenda.working.map(\.position)
    }

    @Test("a route to which much happens is looked at once, and only in the next turn")
    func marked() {
        var agenda = RouteAgenda(routes: 3)
        #expect(!agenda.hasMarked)
        for position in [2, 0, 2] { agenda.mark(routes[position]) }
        #expect(agenda.hasMarked)
        let (first, second) = (begin(&agenda), begin(&agenda))
        #expect(first == [2, 0] && second == [] && !agenda.hasMarked)
    }

    @Test("all routes are looked at when what concerns them alike changes, and in the first turn")
    func condition() {
        var agenda = RouteAgenda(routes: 3)
        agenda.follow(LaneCondition(), routes)
        let first = begin(&agenda)
        agenda.follow(LaneCondition(), routes)
        let same = begin(&agenda)
        agenda.follow(LaneCondition(isDraining: true), routes)
        let changed = begin(&agenda)
        #expect(first == [0, 1, 2] && same == [] && changed == [0, 1, 2])
    }

    @Test("a route that is due is looked at then, and not again until its time is set again")
    func due() {
        var agenda = RouteAgenda(routes: 3)
        agenda.set(20, of: 1)
        agenda.set(30, of: 2)
        let earliest = agenda.earliest
        #expect(earliest == 20)
        agenda.markDue(routes, now: 19)
        #expect(!agenda.hasMarked)
        agenda.markDue(routes, now: 20)
        agenda.markDue(routes, now: 21)
        let next = agenda.earliest
        let looked = begin(&agenda)
        #expect(looked == [1] && next == 30)
    }

    @Test("a route whose acknowledgements found no room is looked at once there is some")
    func starved() {
        var agenda = RouteAgenda(routes: 3)
        for _ in 0..<2 { agenda.starve(routes[1]) }
        #expect(agenda.hasStarved && !agenda.hasMarked)
        agenda.markStarved()
        let looked = begin(&agenda)
        #expect(looked == [1] && !agenda.hasStarved)
        agenda.starve(routes[1])
        #expect(agenda.hasStarved, "it may find no room again")
    }

    @Test("a route with jobs that waits for results to go out is looked at once it can go on")
    func heldBack() {
        var agenda = RouteAgenda(routes: 3)
        take(delivery(returns: 0), routes[2])
        for route in routes { agenda.holdBack(route) }
        #expect(agenda.hasHeldBack)
        agenda.markHeldBack()
        #expect(agenda.hasHeldBack && !agenda.hasMarked, "nothing can be published yet")
        routes[2].surroundings.publisher.confirmsSelected(1)
        agenda.markHeldBack()
        let looked = begin(&agenda)
        #expect(looked == [2] && !agenda.hasHeldBack)
    }

    @Test("a route that is gone is looked at no more")
    func forgotten() {
        var agenda = RouteAgenda(routes: 3)
        take(delivery(returns: 0), routes[0])
        agenda.mark(routes[0])
        agenda.starve(routes[0])
        agenda.holdBack(routes[0])
        agenda.forget(routes[0])
        #expect(!agenda.hasMarked && !agenda.hasStarved && !agenda.hasHeldBack)
    }

    @Test("a route that came later has a time of its own")
    func added() throws {
        var agenda = RouteAgenda(routes: 3)
        agenda.addPosition()
        agenda.set(5, of: 3)
        agenda.markDue(routes + [try route(number: 3, position: 3)], now: 5)
        let looked = begin(&agenda)
        #expect(looked == [3])
    }
}
