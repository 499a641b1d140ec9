import Testing

@testable import APNSSimulator

@Suite("Choosing verdicts", .timeLimit(.minutes(1)))
struct VerdictChooserTests {
    private func chooser(_ rules: [Scenario.Rule], seed: UInt64 = 1) -> VerdictChooser {
        VerdictChooser(scenario: Scenario(seed: seed, rules: rules), usesPrefixes: true)
    }

    @Test("Without a match a push is accepted")
    func nothing() {
        var chooser = chooser([])
        #expect(chooser.verdict(for: .push(to: Tokens.beginning("ab")), now: 0) == .accept)
    }

    @Test("Failures are counted for each device, then it succeeds")
    func failing() {
        var chooser = chooser([])
        let first = ValidPush.push(to: Tokens.beginning("fa112429"))
        let second = ValidPush.push(to: Tokens.beginning("fa112429a"))
        #expect((0..<4).map { _ in chooser.verdict(for: first, now: 0).status } == [429, 429, 200, 200])
        #expect((0..<3).map { _ in chooser.verdict(for: second, now: 0).status } == [429, 429, 200])
        chooser.reset()
        #expect(chooser.verdict(for: first, now: 0).status == 429)
    }

    @Test("The first rule that matches decides; a token's prefix comes before all rules")
    func order() {
        let gone = VerdictSequence(Verdict(.refuse(.unregistered)))
        let busy = VerdictSequence(Verdict(.refuse(.serviceUnavailable)))
        var chooser = chooser([
            Scenario.Rule(tokenPrefix: "AB", topic: "com.example.app", sequence: gone),
            Scenario.Rule(topic: "com.example.app", sequence: busy),
        ])
        #expect(chooser.verdict(for: .push(to: Tokens.beginning("ab")), now: 0).status == 410)
        #expect(chooser.verdict(for: .push(to: Tokens.beginning("AB")), now: 0).status == 410)
        #expect(chooser.verdict(for: .push(to: Tokens.beginning("cd")), now: 0).status == 503)
        #expect(chooser.verdict(for: .push(to: Tokens.beginning("ab"), topic: "com.other"), now: 0).status == 200)
        #expect(chooser.verdict(for: .push(to: Tokens.beginning("600d0000")), now: 0).status == 200)
        #expect(chooser.verdict(for: .push(to: "a"), now: 0).status == 503)
    }

    @Test("A ratio by device hits the same devices in any order, about as many as it says")
    func ratioByDevice() {
        let rule = Scenario.Rule(ratio: 0.1, sequence: VerdictSequence(Verdict(.silent)))
        var forward = chooser([rule], seed: 9)
        var backward = chooser([rule], seed: 9)
        var other = chooser([rule], seed: 10)
        let tokens = (0..<2000).map { Tokens.beginning("a" + String(100_000 + $0)) }
        let hits = Set(tokens.filter { forward.verdict(for: .push(to: $0), now: 0).action == .silent })
        #expect(
            Set(tokens.reversed().filter { backward.verdict(for: .push(to: $0), now: 0).action == .silent }) == hits)
        #expect(Set(tokens.filter { other.verdict(for: .push(to: $0), now: 0).action == .silent }) != hits)
        #expect((120...280).contains(hits.count))
    }

    @Test("A ratio by push draws anew each time and is the same for the same seed")
    func ratioByPush() {
        let rule = Scenario.Rule(ratio: 0.5, draw: .push, sequence: VerdictSequence(Verdict(.silent)))
        var first = chooser([rule], seed: 3)
        var second = chooser([rule], seed: 3)
        let draws = (0..<200).map { _ in first.verdict(for: .push(to: Tokens.beginning("ab")), now: 0).status }
        #expect((0..<200).map { _ in second.verdict(for: .push(to: Tokens.beginning("ab")), now: 0).status } == draws)
        #expect((60...140).contains(draws.count { $0 == 0 }))
    }
}
