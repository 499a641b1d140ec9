import Testing

@testable import PushWorker

@Suite("Routes that come and go on a lane", .timeLimit(.minutes(1)))
struct RouteTurnoverTests: RouteSuite {
    @Test("a number leads to the route that has it now, and to none once that route has left")
    func numbers() throws {
        let (first, second) = (try route(number: 1), try route(number: 4))
        var turnover = RouteTurnover([first])
        turnover.add(second)
        #expect(turnover.route(1) === first && turnover.route(4) === second && turnover.route(0) == nil)
        turnover.remove(first, counted: first.tally.counters)
        #expect(turnover.route(1) == nil && turnover.route(4) === second)
        let next = try route(number: 1)
        turnover.add(next)
        #expect(turnover.route(1) === next)
        // What left before takes nothing from the route that has the number now.
        turnover.remove(first, counted: first.tally.counters)
        #expect(turnover.route(1) === next)
    }

    @Test("what routes counted that have left is added up, and nothing of them is under way")
    func counted() throws {
        var turnover = RouteTurnover([])
        #expect(turnover.counted == nil)
        for (requests, inFlight) in [(2, 1), (3, 0)] {
            let route = try route()
            var counters = route.tally.counters
            (counters.requests, counters.inFlight) = (requests, inFlight)
            turnover.remove(route, counted: counters)
        }
        #expect(turnover.counted?.requests == 5 && turnover.counted?.inFlight == 0)
    }
}
