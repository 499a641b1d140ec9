import APNSClient
import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("What limits a route", .timeLimit(.minutes(1)))
struct RouteLimitTests {
    private static func situation(_ change: (inout RouteSituation) -> Void) -> RouteSituation {
        var situation = RouteSituation(hasBacklog: true, unacknowledged: 100, prefetch: 100, inFlight: 80)
        change(&situation)
        return situation
    }

    @Test("Each limit is named, and of several the one that must change first")
    func limits() {
        let cases: [(RouteLimit, RouteSituation)] = [
            (.nothing, RouteSituation()),
            (.nothing, Self.situation { _ in }),
            (.streams, Self.situation { $0.pool = .streams }),
            (.window, Self.situation { $0.pool = .window }),
            (.apns, Self.situation { $0.pool = .server }),
            (.rate, Self.situation { $0.isRateReached = true }),
            (.rate, Self.situation { ($0.isRateReached, $0.pool) = (true, .streams) }),
            (.broker, Self.situation { $0.isCongested = true }),
            (.broker, Self.situation { ($0.isCongested, $0.pool, $0.isRateReached) = (true, .window, true) }),
            (.broker, Self.situation { $0.isServing = false }),
            (.apns, Self.situation { ($0.intake, $0.isServing) = (.none, false) }),
            (.apns, Self.situation { ($0.intake, $0.isCongested) = (.one, true) }),
            // Nothing waits: full connections limit nobody.
            (.nothing, Self.situation { ($0.hasBacklog, $0.pool) = (false, .streams) }),
            (.nothing, Self.situation { ($0.hasBacklog, $0.pool) = (false, .server) }),
            // All is sent and most of it answered: the confirms of results are what is missing.
            (.broker, Self.situation { ($0.hasBacklog, $0.inFlight) = (false, 49) }),
            (.nothing, Self.situation { ($0.hasBacklog, $0.inFlight) = (false, 50) }),
            (.nothing, Self.situation { ($0.hasBacklog, $0.inFlight, $0.unacknowledged) = (false, 0, 99) }),
            (.nothing, Self.situation { ($0.isDraining, $0.isServing, $0.prefetch) = (true, false, 0) }),
        ]
        for (expected, situation) in cases { #expect(situation.limit == expected, "\(situation)") }
        #expect(Set(cases.map(\.0)) == Set(RouteLimit.allCases))
    }
}
