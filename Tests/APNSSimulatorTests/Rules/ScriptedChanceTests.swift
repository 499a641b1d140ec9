import Testing
import Text

@testable import APNSSimulator

@Suite("Scripted chance and time", .timeLimit(.minutes(1)))
struct ScriptedChanceTests {
    private func draws(_ latency: Latency, seed: UInt64 = 4) -> [Int] {
        var generator = SplitMix64(seed: seed)
        return (0..<4000).map { _ in latency.draw(using: &generator) }.sorted()
    }

    @Test("Drawn waits follow their distribution and repeat with their seed")
    func latencies() {
        let even = draws(.uniform(min: 10, max: 30))
        #expect(even.first == 10 && even.last == 30 && (19...21).contains(even[2000]))
        let exponential = draws(.exponential(mean: 100))
        #expect((90...110).contains(exponential.reduce(0, +) / 4000) && (60...78).contains(exponential[2000]))
        let tailed = draws(.logNormal(median: 40, percentile99: 400))
        #expect((37...43).contains(tailed[2000]) && (300...520).contains(tailed[3960]))
        #expect(draws(.exponential(mean: 100)) == exponential)
        #expect(draws(.exponential(mean: 100), seed: 5) != exponential)
        #expect(draws(.logNormal(median: 0, percentile99: 0)).allSatisfy { $0 == 0 })
    }

    @Test(
        "A window holds from its beginning to its end, again and again where it is told so",
        arguments: [
            (0, false, false), (999, false, false), (1000, true, true), (1999, true, true), (2000, false, false),
            (11_000, false, true), (12_000, false, false),
        ] as [(Int64, Bool, Bool)])
    func windows(_ elapsed: Int64, _ once: Bool, _ repeated: Bool) {
        #expect(TimeWindow(from: 1000, until: 2000).contains(elapsed) == once)
        #expect(TimeWindow(from: 1000, until: 2000, every: 10_000).contains(elapsed) == repeated)
    }

    @Test("A rule for a span of time, an address or devices beyond a rate hits only those")
    func conditions() {
        var timed = Scenario.Rule(sequence: VerdictSequence(Verdict(.refuse(.serviceUnavailable))))
        timed.window = TimeWindow(from: 1000, until: 2000)
        var placed = Scenario.Rule(sequence: VerdictSequence(Verdict(.refuse(.internalServerError))))
        placed.address = "127.0.0.2"
        var busy = Scenario.Rule(sequence: VerdictSequence(Verdict(.refuse(.tooManyRequests))))
        busy.beyond = GatewayLimits.Rate(pushes: 2, period: 1000)
        var chooser = VerdictChooser(
            scenario: Scenario(rules: [timed, placed, busy]), usesPrefixes: false, start: 100)
        func status(_ device: String, at now: Int64, address: String = "127.0.0.1") -> Int {
            chooser.verdict(for: .push(to: Tokens.beginning(device)), now: now, address: address).status
        }
        #expect(status("ab", at: 1099) == 200)
        #expect(status("ab", at: 1100) == 503)
        #expect(status("ab", at: 2100, address: "127.0.0.2") == 500)
        #expect((0..<4).map { _ in status("cd", at: 3000) } == [200, 200, 429, 429])
        #expect(status("ef", at: 3000) == 200)
        #expect(status("cd", at: 4001) == 200)
    }

    @Test("Rules for connections count their hits, and ratios repeat with their seed")
    func connections() {
        var first = ConnectionRule()
        (first.first, first.plan.isRefused) = (2, true)
        var some = ConnectionRule()
        (some.ratio, some.plan.isMute) = (0.3, true)
        var scenario = Scenario(seed: 8)
        scenario.connections = [first, some]
        var chooser = ConnectionChooser(scenario: scenario, roundTrip: 40, start: 0)
        var again = chooser
        let plans = (0..<1000).map { _ in chooser.plan(for: "127.0.0.1", now: 0) }
        #expect(plans.count { $0.isRefused } == 2 && plans[0].isRefused && plans[1].isRefused)
        #expect((240...360).contains(plans.count { $0.isMute }))
        #expect(plans.allSatisfy { $0.roundTrip == 40 })
        #expect((0..<1000).map { _ in again.plan(for: "127.0.0.1", now: 0) } == plans)
    }

    @Test(
        "Durations are at most ten years long",
        arguments: [("1.5s", 1500), ("3650d", 315_360_000_000), ("3650.1d", nil), ("9999999d", nil), ("5", nil)]
            as [(String, Int64?)])
    func durations(_ text: String, _ milliseconds: Int64?) {
        #expect(DurationText.milliseconds(text) == milliseconds)
    }
}
