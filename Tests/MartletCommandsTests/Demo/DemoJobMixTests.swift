import FoundationEssentials
import Rig
import Testing

@testable import MartletCommands

@Suite("The demo's jobs", .timeLimit(.minutes(1)))
struct DemoJobMixTests {
    @Test(
        "There are as many jobs as asked for, of every kind at least one, whatever the number",
        arguments: [100, 20_000])
    func counts(count: Int) {
        let mix = DemoJobMix(count: count, seed: 7)
        let jobs = Array(mix)
        #expect(jobs.count == count)
        #expect(mix.kinds.values.reduce(0, +) == count)
        for kind in DemoJobMix.Kind.allCases { #expect(mix.kinds[kind, default: 0] >= 1, "\(kind)") }
        #expect(jobs.reduce(0) { $0 + $1.notifications } == mix.notifications)
        #expect(Set(jobs.map(\.id)).count == count)
    }

    @Test("The same seed gives the same jobs, another one others")
    func seeds() {
        func text(_ seed: UInt64) -> [String] { DemoJobMix(count: 200, seed: seed).map { "\($0.id) \($0.body)" } }
        #expect(text(1) == text(1))
        #expect(text(1) != text(2))
    }

    @Test("Good jobs are most of it, half of them in either form")
    func good() throws {
        let mix = DemoJobMix(count: 20_000, seed: 1)
        let raw = try #require(mix.kinds[.raw])
        let enveloped = try #require(mix.kinds[.enveloped])
        #expect(abs(raw - enveloped) <= 1)
        #expect(raw + enveloped >= 18_000)
    }

    @Test("Bodies are JSON objects, but for the one kind that is broken on purpose")
    func bodies() {
        let mix = DemoJobMix(count: 1_000, seed: 3)
        let broken = mix.filter { job in
            (try? JSONDecoder().decode([String: AnyJSON].self, from: Data(job.body.utf8))) == nil
        }
        #expect(broken.count == mix.kinds[.brokenJSON])
    }

    @Test("Device tokens are 64 hexadecimal digits and begin as the simulator's table says")
    func tokens() {
        let tokens = DemoJobMix(count: 1_000, seed: 3).compactMap(\.rawToken)
        #expect(tokens.allSatisfy { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) })
        let heads = Set(tokens.filter { !$0.hasPrefix("1") }.map { String($0.prefix(8)) })
        #expect(heads == ["fa111429", "fa111000", "bad00400", "fa111503"])
    }

    /// Any JSON value.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
