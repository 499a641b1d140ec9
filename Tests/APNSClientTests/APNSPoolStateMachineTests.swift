import EventLoop
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("How many connections a pool asks for", .timeLimit(.minutes(1)))
struct APNSPoolStateMachineTests {
    /// A point in time, by its distance to the clock's start.
    static func at(_ distance: Duration) -> MonotonicTime { 0 + distance }

    var random = SplitMix64(seed: 1)

    @Test("A fixed number is opened one after the other, and no more")
    func fixed() {
        var pool = APNSPoolStateMachine(.fixed(3))
        var opened: [MonotonicTime] = []
        for tick in 0..<100 {
            let now = Self.at(.milliseconds(tick * 100))
            while pool.wantsConnect(now: now) {
                opened.append(now)
                pool.connected()
            }
        }
        #expect(opened == [0, 500_000_000, 1_000_000_000])
        #expect(pool.nextDue == nil)
    }

    @Test("An automatic pool begins with one and grows while it stays saturated, up to its maximum")
    func automatic() {
        var pool = APNSPoolStateMachine(.automatic(maximum: 3))
        #expect(pool.wantsConnect(now: 0) == true)
        pool.connected()
        #expect(pool.wantsConnect(now: Self.at(.seconds(10))) == false)
        var opened: [Int] = []
        for tick in 0..<100 {
            let now = Self.at(.milliseconds(10_000 + tick * 50))
            pool.turned(Self.full(.streams), now: now)
            if pool.wantsConnect(now: now) {
                opened.append(tick * 50)
                pool.connected()
            }
        }
        #expect(opened == [200, 700])
        #expect(pool.live == 3)
    }

    @Test("A moment without saturation starts the count again")
    func interrupted() {
        var pool = APNSPoolStateMachine(.automatic(maximum: 8))
        #expect(pool.wantsConnect(now: 0) == true)
        pool.connected()
        for tick in 0..<1_000 {
            let now = Self.at(.milliseconds(1_000 + tick * 50))
            pool.turned(Self.full(tick % 4 != 3 ? .streams : .nothing), now: now)
            #expect(pool.wantsConnect(now: now) == false)
        }
    }

    /// All connections are full, and work waits.
    static func full(_ limit: APNSPoolLimit) -> APNSPoolLoad {
        APNSPoolLoad(limit: limit, hasBacklog: true, inFlight: 1_000, perConnection: 100)
    }

    @Test(
        "A pool grows when work waits and all is full for long enough: four round trips where they are long",
        arguments: [
            (.streams, true, 0, 0, 200), (.streams, true, 150, 0, 600), (.window, true, 0, 0, 200),
            (.window, true, 150, 0, 600), (.window, true, 40, 0.25, 200), (.window, true, 40, 0.2, nil),
            (.streams, false, 0, 0, nil), (.window, false, 40, 1, nil), (.nothing, true, 0, 0, nil),
            (.server, true, 0, 0, nil),
        ] as [(APNSPoolLimit, Bool, Int, Double, Int?)])
    func growth(
        limit: APNSPoolLimit, hasBacklog: Bool, roundTrip: Int, filled: Double, expected: Int?
    ) {
        var pool = APNSPoolStateMachine(.automatic(maximum: 8))
        _ = pool.wantsConnect(now: 0)
        pool.connected()
        // One window per round trip is what one connection can carry.
        let ceiling = filled > 0 ? 65_535 / Double(roundTrip * 1_000_000) : nil
        var grown: Int?
        for tick in 0...100 where grown == nil {
            let now = Self.at(.milliseconds(1_000 + tick * 10))
            let bytes = ceiling.map { UInt64($0 * filled * 1.001 * Double(tick * 10_000_000)) } ?? 0
            pool.turned(
                APNSPoolLoad(
                    limit: limit, hasBacklog: hasBacklog, inFlight: 43, perConnection: 43, submittedBytes: bytes,
                    ceiling: ceiling, roundTrip: .milliseconds(roundTrip)), now: now)
            if pool.wanted == 2 { grown = tick * 10 }
        }
        #expect(grown == expected)
        if filled == 0.2 { #expect(pool.limit == .server) }
    }

    @Test("A slow server is named until there is room again; a fixed pool names its limit as well")
    func slowServer() {
        var pool = APNSPoolStateMachine(.fixed(1))
        _ = pool.wantsConnect(now: 0)
        pool.connected()
        var load = APNSPoolLoad(
            limit: .window, hasBacklog: true, inFlight: 43, perConnection: 43, ceiling: 0.065,
            roundTrip: .milliseconds(1))
        pool.turned(load, now: 0)
        #expect(pool.limit == .window)
        pool.turned(load, now: Self.at(.seconds(1)))
        #expect(pool.limit == .server)
        load.submittedBytes = 1_000
        pool.turned(load, now: Self.at(.seconds(1) + .nanoseconds(1)))
        #expect(pool.limit == .server)
        load.limit = .nothing
        pool.turned(load, now: Self.at(.seconds(1) + .nanoseconds(2)))
        #expect(pool.limit == .nothing)
        load.limit = .window
        pool.turned(load, now: Self.at(.seconds(1) + .nanoseconds(3)))
        #expect(pool.limit == .window)
        #expect(pool.wanted == 1)
    }

    @Test(
        "A connection is given up after ten minutes in which fewer would have been three quarters full at most",
        arguments: [(0, 1), (32, 1), (33, 2), (64, 2), (65, 3), (97, 4)])
    func shrinking(inFlight: Int, expected: Int) {
        var pool = APNSPoolStateMachine(.automatic(maximum: 4))
        var now: MonotonicTime = 0
        while pool.live < 4 {
            now = now + .seconds(1)
            pool.turned(Self.full(.streams), now: now)
            if pool.wantsConnect(now: now) { pool.connected() }
        }
        let quiet = APNSPoolLoad(inFlight: inFlight, perConnection: 43)
        var given: [Int] = []
        let start = now
        for tick in 0...4_000 {
            now = start + .seconds(tick)
            pool.turned(quiet, now: now)
            if pool.surplus > 0 {
                given.append(tick)
                var random = SplitMix64(seed: 1)
                pool.lost(wasUseful: true, age: .zero, now: now, random: &random)
            }
            #expect(pool.surplus == 0)
            #expect(pool.wantsConnect(now: now) == false)
        }
        #expect(pool.live == expected)
        #expect(given == [600, 1_201, 1_802].prefix(4 - expected).map { $0 })
        #expect((pool.surplusDue == nil) == (pool.live == expected))
    }

    @Test("One busy moment within ten minutes keeps all connections, and a fixed number is never given up")
    func busyMoment() {
        for count in [APNSConnectionCount.automatic(maximum: 2), .fixed(2)] {
            var pool = APNSPoolStateMachine(count)
            while pool.live < 2 {
                pool.turned(Self.full(.streams), now: Self.at(.seconds(pool.live)))
                pool.turned(Self.full(.streams), now: Self.at(.seconds(pool.live) + .milliseconds(500)))
                if pool.wantsConnect(now: Self.at(.seconds(pool.live + 1))) { pool.connected() }
            }
            for tick in 0..<5_000 {
                let isBusy = count != .fixed(2) && tick % 590 == 0
                pool.turned(
                    APNSPoolLoad(inFlight: isBusy ? 50 : 0, perConnection: 43), now: Self.at(.seconds(10 + tick)))
                #expect(pool.wanted == 2)
            }
        }
    }

    @Test("Failures are followed by waits drawn below a ceiling that doubles up to 30 seconds")
    mutating func backoff() {
        var pool = APNSPoolStateMachine(.fixed(1))
        var now: MonotonicTime = 0
        for failure in 1...20 {
            #expect(pool.wantsConnect(now: now) == true)
            #expect(pool.wantsConnect(now: now + .seconds(100)) == false)
            // The connect took a second, so that only the backoff holds the next one back.
            now = now + .seconds(1)
            pool.connectFailed(now: now, random: &random)
            #expect(pool.failures == failure)
            let wait = (pool.nextDue ?? 0) - now
            let ceiling = min(.seconds(30), Duration.milliseconds(200) * (1 << (failure - 1)))
            #expect(wait >= ceiling / 20)
            #expect(wait <= ceiling)
            now = now + wait
        }
        #expect(pool.wantsConnect(now: now) == true)
        pool.connected()
        #expect(pool.failures == 20)
        pool.proved()
        #expect(pool.failures == 0)
    }

    @Test("Waits are spread: two pools that fail together do not come back together")
    mutating func jitter() {
        var waits: Set<MonotonicTime> = []
        for _ in 0..<100 {
            var pool = APNSPoolStateMachine(.fixed(1))
            _ = pool.wantsConnect(now: 0)
            pool.connectFailed(now: Self.at(.seconds(1)), random: &random)
            waits.insert(pool.nextDue ?? 0)
        }
        #expect(waits.count > 90)
    }

    @Test(
        "A lost connection is replaced at once if it was of use or old, else after a wait",
        arguments: [(true, 0, 0), (false, 61, 0), (false, 59, 1), (true, 100, 0)] as [(Bool, Int, Int)])
    mutating func lost(wasUseful: Bool, age: Int, failures: Int) {
        var pool = APNSPoolStateMachine(.fixed(1))
        _ = pool.wantsConnect(now: 0)
        pool.connected()
        let now = Self.at(.seconds(100))
        pool.lost(wasUseful: wasUseful, age: .seconds(age), now: now, random: &random)
        #expect(pool.failures == failures)
        #expect(pool.wantsConnect(now: now) == (failures == 0))
    }

    @Test("A pool that was stopped asks for nothing")
    func stopped() {
        var pool = APNSPoolStateMachine(.fixed(2))
        pool.stop()
        #expect(pool.wantsConnect(now: Self.at(.seconds(1))) == false)
        #expect(pool.nextDue == nil)
    }

    @Test("Whatever happens, connections never exceed the number wanted, and one is always coming", arguments: 0..<100)
    func property(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var pool = APNSPoolStateMachine(seed % 2 == 0 ? .fixed(4) : .automatic(maximum: 4))
        var now: MonotonicTime = 0
        for _ in 0..<1_000 {
            now = now + .random(in: .zero ... .milliseconds(300), using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where pool.connecting > 0: pool.connected()
            case 1 where pool.connecting > 0: pool.connectFailed(now: now, random: &random)
            case 2 where pool.live > 0:
                pool.lost(
                    wasUseful: Bool.random(using: &random), age: now - 0, now: now, random: &random)
            case 3: pool.proved()
            case 4: pool.turned(Self.full(.streams), now: now)
            default: _ = pool.wantsConnect(now: now)
            }
            #expect(pool.live + pool.connecting <= pool.wanted)
            #expect(pool.wanted <= 4)
            #expect(pool.connecting <= 1)
            if pool.live + pool.connecting < pool.wanted, pool.connecting == 0 {
                #expect((pool.nextDue ?? .distantFuture) <= now + .seconds(31))
            } else {
                #expect(pool.nextDue == nil)
            }
        }
    }
}
