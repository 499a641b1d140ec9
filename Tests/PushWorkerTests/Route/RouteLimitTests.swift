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

@Suite("Device tokens that rest", .timeLimit(.minutes(1)))
struct CoolingTokensTests {
    private func key(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        return CoolingTokens.key(bytes.span)
    }

    @Test("A token rests until its time is over, the latest of several; others do not")
    func rest() {
        var tokens = CoolingTokens()
        #expect(tokens.isEmpty)
        tokens.cool(key("a1"), until: 100, now: 0)
        tokens.cool(key("a1"), until: 50, now: 10)
        #expect(tokens.remaining(key("a1"), now: 20) == .nanoseconds(80))
        #expect(tokens.remaining(key("a2"), now: 20) == nil)
        tokens.cool(key("a2"), until: 300, now: 20)
        #expect(tokens.remaining(key("a1"), now: 100) == nil)
        #expect(tokens.count == 1)
        #expect(tokens.remaining(key("a2"), now: 299) == .nanoseconds(1))
        tokens.forgetIfDue(now: 299)
        #expect(!tokens.isEmpty)
        tokens.forgetIfDue(now: 300)
        #expect(tokens.isEmpty)
    }

    @Test("Upper and lower case name the same token")
    func letterCase() {
        #expect(key("A1B2C3") == key("a1b2c3"))
        #expect(key("A1B2C3") != key("a1b2c4"))
        #expect(key("00") != key("000"))
    }

    @Test("Their number is bounded: what is over makes room, and where nothing is, the newest goes on as before")
    func bounded() {
        var tokens = CoolingTokens()
        for number in 0..<CoolingTokens.capacity { tokens.cool(number, until: number < 10 ? 50 : 1_000, now: 0) }
        tokens.cool(-1, until: 1_000, now: 49)
        #expect(tokens.count == CoolingTokens.capacity)
        #expect(tokens.remaining(-1, now: 49) == nil)
        tokens.cool(20, until: 2_000, now: 49)
        #expect(tokens.remaining(20, now: 49) == .nanoseconds(1_951))
        tokens.cool(-1, until: 1_000, now: 50)
        #expect(tokens.count == CoolingTokens.capacity - 9)
        #expect(tokens.remaining(-1, now: 50) == .nanoseconds(950))
    }
}
