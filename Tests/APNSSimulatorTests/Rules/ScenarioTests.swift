import FoundationEssentials
import Testing

@testable import APNSSimulator

@Suite("Scenario files", .timeLimit(.minutes(1)))
struct ScenarioTests {
    @Test("All forms are read")
    func everything() throws {
        let scenario = try Scenario(
            yaml: """
                seed: 42
                rules:
                  - name: gone
                    match: { token: DEad, topic: com.example.app, ratio: 0.25, each: push }
                    verdict: { reason: Unregistered, timestamp: 1763712764120 }
                  - verdict: { fail: 2, reason: TooManyRequests, retry_after: 3, delay: 20ms }
                  - verdict: { reason: Brandnew, status: 418 }
                  - verdict: { delay: 1.5s }
                  - verdict: { silent: true }
                  - verdict: { reset: cancel }
                  - verdict: { goaway: { code: 11, reason: IdleTimeout, reach: before } }
                  - verdict: { close: true }
                  - verdict: { gateway: { status: 302 } }
                  - verdict: { gateway: { status: 200, body: <html> } }
                  - verdict: { accept: true }
                """, name: "s.yaml")
        var busy = Refusal.tooManyRequests
        busy.retryAfter = 3
        #expect(scenario.seed == 42)
        #expect(
            scenario.rules[0]
                == Scenario.Rule(
                    name: "gone", tokenPrefix: "dead", topic: "com.example.app", ratio: 0.25, draw: .push,
                    sequence: VerdictSequence(
                        Verdict(.refuse(Refusal(410, "Unregistered", timestamp: 1_763_712_764_120))))))
        #expect(
            scenario.rules.dropFirst().map(\.sequence) == [
                VerdictSequence(Verdict(.refuse(busy), delay: 20), count: 2),
                VerdictSequence(Verdict(.refuse(Refusal(418, "Brandnew")))),
                VerdictSequence(Verdict(.accept, delay: 1500)),
                VerdictSequence(Verdict(.silent)), VerdictSequence(Verdict(.reset(8))),
                VerdictSequence(Verdict(.goAway(.init(code: 11, reason: "IdleTimeout", reach: .before)))),
                VerdictSequence(Verdict(.close)), VerdictSequence(Verdict(.gateway(.init(status: 302)))),
                VerdictSequence(Verdict(.gateway(.init(status: 200, body: "<html>")))), VerdictSequence(.accept),
            ])
    }

    @Test("An empty file is a scenario without rules", arguments: ["", "# nothing\n", "rules: []\n"])
    func empty(_ yaml: String) throws {
        #expect(try Scenario(yaml: yaml, name: "s") == Scenario())
    }

    @Test(
        "A mistake is told with its line and column",
        arguments: [
            ("rules:\n  - verdict: { reason: Nonsense }", "s:2:24: Apple documents no reason Nonsense"),
            ("speed: 1", "s:1:1: unknown key speed"),
            (
                "rules:\n  - match: { ratio: 2 }\n    verdict: { close: true }",
                "s:2:21: `ratio` is a number from 0 to 1"
            ),
            ("rules:\n  - match: { token: xyz }\n    verdict: { close: true }", "s:2:21: `token`"),
            ("rules:\n  - name: a", "s:2:5: a rule needs a `verdict`"),
            ("rules:\n  - verdict: { delay: 20 }", "s:2:23: a delay is a number and ms, s, m, h or d"),
            ("rules:\n  - verdict: { close: true, silent: true }", "s:2:14: one of these at a time: silent, close"),
            ("rules:\n  - verdict: { fail: 3 }", "s:2:14: a verdict says one of"),
            ("rules:\n  - verdict: { reset: NOPE }", "s:2:23: expected an HTTP/2 error code"),
            ("rules:\n  - verdict: { close: maybe }", "s:2:23: write `close: true`"),
            ("rules:\n  - verdict: { close: true, status: 400 }", "s:2:37: `status` goes with `reason` only"),
            (
                "rules:\n  - verdict: { goaway: { reach: far } }",
                "s:2:33: `reach` is one of accepted, before, unanswered"
            ),
            ("rules: 7", "s:1:8: `rules` is a list"), ("- a", "s:1:1: expected a mapping"),
            ("rules:\n  - verdict: {", "s:"), ("seed: -1", "s:1:7: expected a whole number from 0 up"),
        ])
    func mistakes(_ yaml: String, _ message: String) {
        let error = #expect(throws: SimulatorError.self) { try Scenario(yaml: yaml, name: "s") }
        #expect(error?.code == .scenario)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test("All mistakes are told at once")
    func allMistakes() {
        let yaml = "speed: 1\nseed: x\nrules:\n  - verdict: { delay: 20 }\n"
        let error = #expect(throws: SimulatorError.self) { try Scenario(yaml: yaml, name: "s") }
        #expect(error?.message.split(separator: "\n").count == 3)
    }

    @Test("A missing file is told")
    func missing() {
        let error = #expect(throws: SimulatorError.self) { try Scenario(file: "/nonexistent.yaml") }
        #expect(error?.code == .file)
    }
}
