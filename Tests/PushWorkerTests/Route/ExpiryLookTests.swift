import EventLoop
import TestSupport
import Testing
import Text

@testable import PushWorker

@Suite("When a stopped route looks for expired jobs", .timeLimit(.minutes(1)))
struct ExpiryLookTests {
    private typealias Situation = ExpiryLook.Situation
    private static func at(_ seconds: Double) -> MonotonicTime { 0 + .seconds(seconds) }

    /// A route with nothing in the way of a look.
    private static let stopped = Situation(mayLook: true)
    /// One whose consumers of a look exist.
    private static let consuming = Situation(mayLook: true, isConsuming: true, mayReceive: true)

    private var random = SplitMix64(seed: 7)

    /// A look that has begun.
    private mutating func begun(at seconds: Double = 100) -> ExpiryLook {
        var look = ExpiryLook()
        look.next(Self.stopped, now: Self.at(seconds), random: &random)
        #expect(look.isLooking && look.hasBegun)
        return look
    }

    @Test(
        "a look begins once the route has been stopped for long, nothing of the last one is left, and no probe is near",
        arguments: [
            (ExpiryLook.Situation(mayLook: true), true), (.init(), false),
            (.init(mayLook: true, mayReceive: true), false), (.init(mayLook: true, unacknowledged: 1), false),
            (.init(mayLook: true, waiting: 3, unacknowledged: 3), true),
            (.init(mayLook: true, waiting: ExpiryLook.window, unacknowledged: ExpiryLook.window), false),
            (.init(mayLook: true, probeAt: ExpiryLookTests.at(106)), false),
            (.init(mayLook: true, probeAt: ExpiryLookTests.at(107)), true),
        ])
    func begins(situation: ExpiryLook.Situation, isLooking: Bool) {
        var random = SplitMix64(seed: 1)
        var look = ExpiryLook()
        look.next(situation, now: Self.at(100), random: &random)
        #expect(look.isLooking == isLooking && look.hasBegun == isLooking && !look.isEnding)
    }

    @Test("a look ends when nothing arrives for two seconds, and its consumers are cancelled before there are others")
    mutating func quiet() {
        var look = begun()
        #expect(look.nextDue(after: Self.at(100)) == Self.at(102))
        // It has begun only once all queues are consumed.
        look.next(.init(mayLook: true, mayReceive: true), now: Self.at(101), random: &random)
        var situation = Self.consuming
        situation.delivered = 5
        look.next(situation, now: Self.at(102), random: &random)
        #expect(look.isLooking && look.nextDue(after: Self.at(102)) == Self.at(104))
        look.next(situation, now: Self.at(103.9), random: &random)
        #expect(look.isLooking)
        look.next(situation, now: Self.at(104), random: &random)
        #expect(look.isEnding && !look.isLooking && look.nextDue(after: Self.at(104)) == nil)
        look.next(situation, now: Self.at(105), random: &random)
        #expect(look.isEnding)
        look.next(Self.stopped, now: Self.at(106), random: &random)
        #expect(!look.isEnding && !look.isLooking && look.hasBegun)
    }

    @Test("a look at a queue that goes on delivering ends after ten seconds, or five seconds before the probe")
    mutating func longest() {
        for (probeAt, seconds) in [(nil, 10), (Self.at(112), 7), (Self.at(200), 10)] as [(MonotonicTime?, Int)] {
            var look = ExpiryLook()
            look.next(.init(mayLook: true, probeAt: probeAt), now: Self.at(100), random: &random)
            var situation = Self.consuming
            for second in 1..<seconds {
                situation.delivered = second
                look.next(situation, now: Self.at(Double(100 + second)), random: &random)
                #expect(look.isLooking)
            }
            situation.delivered += 1
            look.next(situation, now: Self.at(Double(100 + seconds)), random: &random)
            #expect(look.isEnding)
        }
    }

    @Test("the next look follows at once where one found something, and after about a minute otherwise")
    mutating func rests() {
        for hasFound in [true, false] {
            var look = begun()
            if hasFound { look.found() }
            look.next(Self.stopped, now: Self.at(110), random: &random)
            #expect(!look.isLooking && !look.isEnding, "there is no consumer to cancel")
            look.next(Self.stopped, now: Self.at(111), random: &random)
            #expect(look.isLooking == hasFound)
            guard !hasFound else { continue }
            let due = look.nextDue(after: Self.at(111)) ?? Self.at(0)
            #expect(due >= Self.at(158) && due <= Self.at(182))
            look.next(Self.stopped, now: due, random: &random)
            #expect(look.isLooking)
        }
    }

    @Test(
        "where nothing may be looked for any more, a look ends at once, and a route that works may look again at once")
    mutating func ends() {
        var look = begun()
        look.next(.init(mayReceive: true), now: Self.at(100.5), random: &random)
        #expect(look.isEnding && look.hasBegun)
        look.next(.init(), now: Self.at(101), random: &random)
        #expect(!look.isEnding && look.nextDue(after: Self.at(101)) == nil)
        look.routeWorks()
        #expect(!look.hasBegun)
        look.next(Self.stopped, now: Self.at(102), random: &random)
        #expect(look.isLooking)
    }

    @Test("a job that came back often ends the looks until the route works again")
    mutating func forbidden() {
        var look = begun()
        look.forbid()
        look.next(Self.consuming, now: Self.at(101), random: &random)
        look.next(Self.stopped, now: Self.at(102), random: &random)
        look.next(Self.stopped, now: Self.at(10_000), random: &random)
        #expect(!look.isLooking && !look.hasBegun && look.nextDue(after: Self.at(10_000)) == nil)
        look.routeWorks()
        look.next(Self.stopped, now: Self.at(10_001), random: &random)
        #expect(look.isLooking)
    }
}
