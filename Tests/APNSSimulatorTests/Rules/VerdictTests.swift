import Testing

@testable import APNSSimulator

/// A valid push to a token.
func push(to token: String, topic: String = "com.example.app") -> ValidPush {
    ValidPush(token: Array(token.utf8), topic: topic, type: .alert, priority: 10)
}

/// A device token of 64 digits that begins with the given ones.
func token(_ prefix: String) -> String { prefix + String(repeating: "0", count: 64 - prefix.utf8.count) }

@Suite("Verdicts by device token", .timeLimit(.minutes(1)))
struct DeviceTokenPrefixTests {
    static let now: Int64 = 1_763_712_800_000

    private func sequence(_ prefix: String) -> VerdictSequence? {
        DeviceTokenPrefix.sequence(of: Array(token(prefix).utf8), now: Self.now)
    }

    @Test("Every documented reason has a prefix, and the help names it")
    func everyReason() {
        var numbers: [Int: Int] = [:]
        for refusal in Refusal.known {
            let number = numbers[refusal.status, default: 0]
            numbers[refusal.status] = number + 1
            let prefix = "bad" + (number < 10 ? "0" : "") + "\(number)\(refusal.status)"
            guard case .refuse(let told) = sequence(prefix)?.first.action else {
                Issue.record("\(prefix) has no verdict")
                continue
            }
            #expect(told.reason == refusal.reason)
            #expect(told.status == refusal.status)
            #expect((told.timestamp != nil) == (refusal.status == 410))
            #expect(DeviceTokenPrefix.help.contains("\(prefix)        \(refusal.status) \(refusal.reason)\n"))
        }
        #expect(Refusal.documented.count == 32)
        #expect(Refusal.known.count == 44)
        #expect(Set(Refusal.known.map(\.reason)).count == 44)
    }

    @Test(
        "Prefixes choose what the table says",
        arguments: [
            ("600d0000", VerdictSequence(.accept)),
            ("dead0410", VerdictSequence(Verdict(.refuse(Refusal(410, "Unregistered", timestamp: now - 86_400_000))))),
            ("DEAD1410", VerdictSequence(Verdict(.refuse(Refusal(410, "ExpiredToken", timestamp: now - 86_400_000))))),
            ("bad00400", VerdictSequence(Verdict(.refuse(.badDeviceToken)))),
            ("bad99418", VerdictSequence(Verdict(.refuse(Refusal(418, "SimulatedUnknownReason"))))),
            ("bad30400", VerdictSequence(Verdict(.refuse(Refusal(400, "SimulatedNoSuchReason"))))),
            ("bad99500", VerdictSequence(Verdict(.refuse(Refusal(500, "SimulatedUnknownReason"))))),
            ("fa112429", VerdictSequence(Verdict(.refuse(.tooManyRequests)), count: 2)),
            ("fa113500", VerdictSequence(Verdict(.refuse(.internalServerError)), count: 3)),
            ("fa111000", VerdictSequence(Verdict(.silent), count: 1)),
            ("fa119007", VerdictSequence(Verdict(.reset(7)), count: 9)),
            ("de1a000250", VerdictSequence(Verdict(.accept, delay: 250))),
            ("0ff00000", VerdictSequence(Verdict(.silent))), ("c0de0008", VerdictSequence(Verdict(.reset(8)))),
            ("90a00000", VerdictSequence(Verdict(.goAway(.init(reach: .accepted))))),
            ("90a1000b", VerdictSequence(Verdict(.goAway(.init(code: 11, reason: nil, reach: .before))))),
            ("90a20000", VerdictSequence(Verdict(.goAway(.init(reach: .unanswered))))),
            ("c105ed00", VerdictSequence(Verdict(.close))),
        ])
    func table(_ prefix: String, _ expected: VerdictSequence) {
        #expect(sequence(prefix) == expected)
    }

    @Test(
        "Other tokens choose nothing",
        arguments: [
            "a1b2c3d4", "deadbeef", "bad40400", "bad00418", "bad99200",
            "badc0ffe", "fa110429", "fa112999", "de1a00ab12",
            "c0de000e", "90a30000", "0ff00001",
        ])
    func others(_ prefix: String) {
        #expect(sequence(prefix) == nil)
        #expect(DeviceTokenPrefix.sequence(of: Array("dead".utf8), now: 0) == nil)
    }
}

@Suite("Choosing verdicts", .timeLimit(.minutes(1)))
struct VerdictChooserTests {
    private func chooser(_ rules: [Scenario.Rule], seed: UInt64 = 1) -> VerdictChooser {
        VerdictChooser(scenario: Scenario(seed: seed, rules: rules), usesPrefixes: true)
    }

    @Test("Without a match a push is accepted")
    func nothing() {
        var chooser = chooser([])
        #expect(chooser.verdict(for: push(to: token("ab")), now: 0) == .accept)
    }

    @Test("Failures are counted for each device, then it succeeds")
    func failing() {
        var chooser = chooser([])
        let first = push(to: token("fa112429"))
        let second = push(to: token("fa112429a"))
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
        #expect(chooser.verdict(for: push(to: token("ab")), now: 0).status == 410)
        #expect(chooser.verdict(for: push(to: token("AB")), now: 0).status == 410)
        #expect(chooser.verdict(for: push(to: token("cd")), now: 0).status == 503)
        #expect(chooser.verdict(for: push(to: token("ab"), topic: "com.other"), now: 0).status == 200)
        #expect(chooser.verdict(for: push(to: token("600d0000")), now: 0).status == 200)
        #expect(chooser.verdict(for: push(to: "a"), now: 0).status == 503)
    }

    @Test("A ratio by device hits the same devices in any order, about as many as it says")
    func ratioByDevice() {
        let rule = Scenario.Rule(ratio: 0.1, sequence: VerdictSequence(Verdict(.silent)))
        var forward = chooser([rule], seed: 9)
        var backward = chooser([rule], seed: 9)
        var other = chooser([rule], seed: 10)
        let tokens = (0..<2000).map { token("a" + String(100_000 + $0)) }
        let hits = Set(tokens.filter { forward.verdict(for: push(to: $0), now: 0).action == .silent })
        #expect(Set(tokens.reversed().filter { backward.verdict(for: push(to: $0), now: 0).action == .silent }) == hits)
        #expect(Set(tokens.filter { other.verdict(for: push(to: $0), now: 0).action == .silent }) != hits)
        #expect((120...280).contains(hits.count))
    }

    @Test("A ratio by push draws anew each time and is the same for the same seed")
    func ratioByPush() {
        let rule = Scenario.Rule(ratio: 0.5, draw: .push, sequence: VerdictSequence(Verdict(.silent)))
        var first = chooser([rule], seed: 3)
        var second = chooser([rule], seed: 3)
        let draws = (0..<200).map { _ in first.verdict(for: push(to: token("ab")), now: 0).status }
        #expect((0..<200).map { _ in second.verdict(for: push(to: token("ab")), now: 0).status } == draws)
        #expect((60...140).contains(draws.count { $0 == 0 }))
    }
}
