import EventLoop
import PushWorker
import TestSupport
import Testing
import Text

@Suite("A route's credit", .timeLimit(.minutes(1)))
struct RouteCreditTests {
    /// Enough for any window of small messages.
    private static let share = 32 << 20

    /// A credit that has seen many messages of one notification each.
    private func credit(rate: Double? = nil) -> RouteCredit {
        var credit = RouteCredit(fixed: nil, rate: rate)
        for _ in 0..<200 { credit.arrived(notifications: 1, bytes: 500) }
        return credit
    }

    @Test("before a body was seen, all are taken for the largest; small ones open the window soon")
    func unknown() {
        var credit = RouteCredit(fixed: nil, rate: nil)
        #expect(credit.wanted(streams: 1_000, share: Self.share) == 96)
        for _ in 0..<64 { credit.arrived(notifications: 1, bytes: 500) }
        #expect(credit.wanted(streams: 1_000, share: Self.share) == 1_500)
    }

    @Test(
        "prefetch is one and a half times the streams, within bounds",
        arguments: [(0, 32), (1, 32), (21, 32), (100, 150), (1_000, 1_500), (4_000, 2_000)])
    func single(streams: Int, wanted: Int) {
        #expect(credit().wanted(streams: streams, share: Self.share) == wanted)
    }

    @Test("a fixed prefetch is kept")
    func fixed() {
        let credit = RouteCredit(fixed: 7, rate: nil)
        #expect(credit.wanted(streams: 1_000, share: 1) == 7 && credit.demand(streams: 1_000) == 0)
    }

    @Test("five seconds of the rate is the most a worker holds, so that other workers get their part of a backlog")
    func rate() {
        #expect(credit(rate: 10).wanted(streams: 1_000, share: Self.share) == 50)
        #expect(credit(rate: 0.01).wanted(streams: 1_000, share: Self.share) == 2)
    }

    @Test("two messages are held at most where they take more than five seconds, and one where two take five minutes")
    func multicastRate() {
        for (rate, expected) in [(1_000.0, 5), (100, 2), (10, 2), (6, 1), (1.0, 1), (0.1, 1)] {
            var credit = credit(rate: rate)
            for _ in 0..<200 { credit.arrived(notifications: 1_000, bytes: 100_000) }
            #expect(credit.wanted(streams: 100_000, share: Self.share) == expected)
        }
    }

    @Test(
        "no window of a campaign's first jobs takes longer than five minutes at the rate, where it has several",
        arguments: [0.1, 0.5, 10, 100, 1_000])
    func firstCampaign(rate: Double) {
        var credit = RouteCredit(fixed: nil, rate: rate)
        for _ in 0..<200 {
            let wanted = credit.wanted(streams: 1_000, share: Self.share)
            #expect(wanted == 1 || Double(wanted) * 1_000 / rate <= 300)
            credit.arrived(notifications: 1_000, bytes: 100_000)
        }
    }

    @Test(
        "a route of single jobs has room for a third of a second's worth at first, and its whole window soon",
        arguments: [(0.1, 1, 2), (0.5, 1, 2), (10, 3, 50), (100, 30, 500), (1_000, 96, 1_500)])
    func firstSingle(rate: Double, first: Int, last: Int) {
        var credit = RouteCredit(fixed: nil, rate: rate)
        #expect(credit.wanted(streams: 1_000, share: Self.share) == first)
        for _ in 0..<128 {
            let before = credit.wanted(streams: 1_000, share: Self.share)
            credit.arrived(notifications: 1, bytes: 500)
            #expect(credit.wanted(streams: 1_000, share: Self.share) >= before)
        }
        #expect(credit.wanted(streams: 1_000, share: Self.share) * 4 >= last * 3)
    }

    @Test("messages that carry many notifications count as many")
    func multicast() {
        var credit = RouteCredit(fixed: nil, rate: nil)
        for _ in 0..<200 { credit.arrived(notifications: 100, bytes: 9_000) }
        let wanted = credit.wanted(streams: 1_000, share: Self.share)
        #expect((15...16).contains(wanted))
    }

    @Test(
        "messages fill three quarters of their share, and one is held in any case",
        arguments: [(1 << 30, 1_500), (4 << 20, 12), (1 << 20, 3), (512 << 10, 1), (1, 1)])
    func bytes(share: Int, wanted: Int) {
        var credit = RouteCredit(fixed: nil, rate: nil)
        for _ in 0..<200 { credit.arrived(notifications: 1, bytes: 256 << 10) }
        #expect(credit.wanted(streams: 1_000, share: share) == wanted)
        #expect(credit.bytes(of: wanted) <= share)
    }

    @Test("the share that is asked for has room for the window that the streams need")
    func demand() {
        let credit = credit()
        let demand = credit.demand(streams: 1_000)
        #expect(credit.wanted(streams: 1_000, share: demand + 1_000) == 1_500)
        #expect((1_000_000...1_010_000).contains(demand))
    }

    @Test("only a change by half or double is worth a new consumer")
    func worth() {
        let credit = RouteCredit(fixed: nil, rate: nil)
        #expect(credit.isWorthChanging(from: 32, to: 1_500))
        #expect(credit.isWorthChanging(from: 1_500, to: 700))
        #expect(!credit.isWorthChanging(from: 1_000, to: 1_500))
    }

    @Test("messages that can count on a quarter of the rate have a quarter of the window that the rate gives")
    func part() {
        for (part, range) in [(1.0, 1_195...1_200), (0.25, 295...300)] {
            var credit = RouteCredit(fixed: nil, rate: 240, part: part)
            for _ in 0..<400 { credit.arrived(notifications: 1, bytes: 100) }
            #expect(range.contains(credit.wanted(streams: 2_000, share: 1 << 30)))
        }
    }
}
