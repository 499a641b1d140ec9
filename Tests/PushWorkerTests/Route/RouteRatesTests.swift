import EventLoop
import PushModel
import Testing

@testable import PushWorker

@Suite("The rates that hold a route back", .timeLimit(.minutes(1)))
struct RouteRatesTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func rate(_ perSecond: Double) -> SendingRate { SendingRate(perSecond: perSecond) }

    @Test("The lower one of the configured rate and the part of the fleet's counts")
    func lower() {
        let (own, fast, slow) = (rate(10), rate(100), rate(1))
        let rates = RouteRates(configured: own)
        #expect(rates.current === own && !rates.hasPart)
        #expect(rates.limitForFleet(to: fast) == RouteRates.Change.none && rates.hasPart)
        #expect(rates.limitForFleet(to: fast) == nil, "it is not news")
        #expect(rates.limitForFleet(to: slow) == .lower && rates.current === slow)
        #expect(rates.limit(to: nil) == RouteRates.Change.none && rates.current === slow)
        #expect(rates.limitForFleet(to: nil) == .other && rates.current == nil && !rates.hasPart)
        #expect(rates.limit(to: own) == .lower, "where there was none before")
        #expect(rates.limit(to: fast) == .other)
    }

    @Test("A part that is held counts, however large it may be, and no jobs are taken for it")
    func held() {
        let own = rate(10)
        let rates = RouteRates(configured: own)
        let held = SendingRate(perSecond: 1_000, fillingFrom: .distantFuture, isHeld: true)
        #expect(rates.limitForFleet(to: held) == .lower && rates.current === held && held.promised == 0)
        #expect(rates.limitForFleet(to: rate(100)) == .other && rates.current === own)
    }

    /// A part of a rate that may be too large.
    private func heldPart() -> SendingRate {
        SendingRate(perSecond: 1_000, fillingFrom: Self.start, isHeld: true)
    }

    @Test("While a part is held, the configured rate holds the route back as well")
    func heldBeside() {
        let rates = RouteRates(configured: rate(8))
        #expect(rates.limitForFleet(to: heldPart()) == .lower)
        var (all, now) = (0, Self.start)
        for _ in 0..<256 {
            // A part of a second that a floating-point number holds exactly.
            now = now + .microseconds(1_000_000 / 64)
            var room = SendingRoom(100)
            rates.turnBegan()
            rates.take(&room, isUrgent: false, now: now)
            all += room.total
            guard room.total == 0 else { continue }
            let isAllowed = rates.allowsOne(now: now)
            #expect(!isAllowed && rates.nextDue.map { $0 > now } == true)
        }
        #expect((32...33).contains(all), "eight a second for four seconds, and one at once: \(all)")
        var room = SendingRoom(100)
        rates.take(&room, isUrgent: false, now: now)
        let isAllowed = rates.allowsOne(now: now)
        #expect(!isAllowed)
        rates.giveBack(1)
        let isAllowedAgain = rates.allowsOne(now: now)
        #expect(isAllowedAgain, "it is given back to both")
    }

    @Test("It gives no more than the rate allows, and says when it allows the next")
    func take() {
        let rates = RouteRates(configured: rate(10))
        var all = 0
        for _ in 0..<100 {
            var room = SendingRoom(5)
            rates.turnBegan()
            rates.take(&room, isUrgent: false, now: Self.start)
            all += room.total
            guard room.total == 0 else { continue }
            #expect(rates.nextDue.map { $0 > Self.start } == true)
            let isAllowed = rates.allowsOne(now: Self.start)
            #expect(!isAllowed)
        }
        #expect((1...20).contains(all))
        rates.turnBegan()
        #expect(rates.nextDue == nil)
        rates.giveBack(1)
        let isAllowed = rates.allowsOne(now: Self.start)
        #expect(isAllowed)
        rates.giveBack(-3)
        let isAllowedOverdrawn = rates.allowsOne(now: Self.start)
        #expect(!isAllowedOverdrawn, "more was taken than there was")
    }

    @Test("Without a rate everything goes, and nothing is due")
    func none() {
        let rates = RouteRates(configured: nil)
        var room = SendingRoom(5)
        rates.take(&room, isUrgent: true, now: Self.start)
        #expect(room == SendingRoom(5) && rates.nextDue == nil && rates.allowsOne(now: Self.start))
    }
}
