import Testing

@testable import MartletCommands

@Suite("Push: the linter", .timeLimit(.minutes(1)))
struct PushLintTests {
    /// A payload, what changes the draft, and the one part that a warning must have; nil for no warning at all.
    struct Row: CustomTestStringConvertible, Sendable {
        var payload: String
        var warning: String?
        var change: @Sendable (inout PushDraft) -> Void = { _ in }

        var testDescription: String { "\(payload.prefix(60)) \(warning ?? "nothing")" }
    }

    private static func type(_ name: String, _ suffix: String = "") -> @Sendable (inout PushDraft) -> Void {
        { draft in
            draft.pushType = name
            draft.topic += suffix
        }
    }

    private static let live = type("liveactivity", ".push-type.liveactivity")
    private static let update = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#

    static let rows: [Row] = [
        // Nothing to say.
        Row(payload: #"{"aps":{"alert":"hi","badge":1,"sound":"default"},"order":1}"#),
        Row(payload: #"{"aps":{"content-available":1},"order":1}"#),
        Row(payload: #"{"aps":{"alert":{"title":"t","loc-key":"k","loc-args":["a"]},"mutable-content":1}}"#),
        Row(payload: #"{"aps":{"alert":"x","interruption-level":"time-sensitive","relevance-score":1}}"#),
        Row(payload: update, change: live),
        Row(payload: #"{"aps":{"content-changed":true}}"#, change: type("widgets", ".push-type.widgets")),
        Row(payload: #"{"mdm":"magic"}"#, change: type("mdm")),
        Row(payload: update) { $0.broadcastChannel = .broadcast("YQ==") },
        Row(payload: "") { $0.broadcastChannel = .list },
        // Background.
        Row(
            payload: #"{"aps":{"alert":"x","content-available":1}}"#, warning: "must not hold alert",
            change: type("background")),
        Row(payload: #"{"aps":{"content-available":1}}"#, warning: "does not go with priority 10") { $0.priority = 10 },
        Row(payload: #"{"aps":{"category":"c"}}"#, warning: "needs content-available", change: type("background")),
        Row(payload: #"{"aps":{"alert":"x","content-available":1}}"#, warning: "content-available alone"),
        // What is shown.
        Row(payload: #"{"order":1}"#, warning: "no aps object"),
        Row(payload: #"{"aps":{"category":"c"}}"#, warning: "shows nothing"),
        Row(payload: #"{"aps":{"alert":"x","order":1}}"#, warning: "aps holds order, which is ignored"),
        Row(payload: #"{"aps":{"badge":1,"mutable-content":1}}"#, warning: "only where the alert has a text"),
        Row(payload: #"{"aps":{"alert":{"body":"x","loc-args":["a"]}}}"#, warning: "loc-args fills a text"),
        Row(payload: #"{"aps":{"badge":-1}}"#, warning: "badge must be"),
        Row(payload: "{}", warning: "member mdm", change: type("mdm")),
        Row(
            payload: #"{"aps":{"alert":"x"}}"#, warning: "needs content-changed",
            change: type("widgets", ".push-type.widgets")),
        // Interruptions.
        Row(payload: #"{"aps":{"sound":{"critical":1,"name":"s"}}}"#, warning: "entitlement"),
        Row(payload: #"{"aps":{"alert":"x","interruption-level":"critical"}}"#, warning: "entitlement"),
        Row(payload: #"{"aps":{"sound":{"critical":0,"name":"s","volume":1}}}"#, warning: "critical sound only"),
        Row(
            payload: #"{"aps":{"alert":"x","interruption-level":"loud"}}"#,
            warning: "interruption level must be passive"),
        Row(payload: #"{"aps":{"alert":"x","interruption-level":1}}"#, warning: "interruption level must be passive"),
        Row(payload: #"{"aps":{"alert":"x","relevance-score":1.01}}"#, warning: "relevance score"),
        Row(payload: #"{"aps":{"alert":"x","relevance-score":-0.1}}"#, warning: "relevance score"),
        // Delivery.
        Row(payload: #"{"aps":{"alert":"x"}}"#, warning: "lists no push type \"hologram\"", change: type("hologram")),
        Row(payload: #"{"aps":{"alert":"x"}}"#, warning: "topic that ends with .voip", change: type("voip")),
        Row(payload: #"{"aps":{"alert":"x"}}"#, warning: "that of the push type voip", change: type("alert", ".voip")),
        Row(
            payload: #"{"aps":{"alert":"x"}}"#, warning: "Apple advises priority 10",
            change: type("pushtotalk", ".voip-ptt")),
        // Live Activities.
        Row(payload: #"{"aps":{"event":"update","content-state":{}}}"#, warning: "needs a timestamp", change: live),
        Row(payload: #"{"aps":{"timestamp":1,"content-state":{}}}"#, warning: "needs an event", change: live),
        Row(payload: #"{"aps":{"timestamp":1,"event":"pause"}}"#, warning: "not start", change: live),
        Row(payload: #"{"aps":{"timestamp":1,"event":"update"}}"#, warning: "needs the content-state", change: live),
        Row(
            payload: #"{"aps":{"timestamp":1,"event":"update","content-state":{},"dismissal-date":2}}"#,
            warning: "event end only", change: live),
        Row(
            payload: #"{"aps":{"timestamp":1,"event":"update","content-state":{},"attributes":{}}}"#,
            warning: "attributes counts with the event start only", change: live),
        Row(
            payload:
                #"{"aps":{"timestamp":1,"event":"start","attributes-type":"T","attributes":{},"content-state":{}}}"#,
            warning: "a start needs alert", change: live),
        Row(
            payload: #"{"aps":{"timestamp":1,"event":"start","attributes-type":"T","attributes":{},"content-state":{},"#
                + #""alert":{"title":"t"},"input-push-token":1,"input-push-channel":"YQ=="}}"#,
            warning: "by token or by broadcast channel", change: live),
        Row(payload: update, warning: "priority 1") { draft in
            live(&draft)
            draft.priority = 1
        },
        Row(payload: #"{"aps":{"alert":"x","event":"update"}}"#, warning: "push type liveactivity only"),
        Row(
            payload: #"{"aps":{"timestamp":1,"event":"start","attributes-type":"T","attributes":{},"content-state":{},"#
                + #""alert":{"title":"t"}}}"#, warning: "broadcast cannot start"
        ) { $0.broadcastChannel = .broadcast("YQ==") },
    ]

    @Test("what deserves a warning gets one, and only that one", arguments: rows)
    func warning(_ row: Row) {
        var draft = PushDraft(id: "j", tokens: ["a1"], topic: "com.example.app", payload: Array(row.payload.utf8))
        row.change(&draft)
        let warnings = PushLint(draft).warnings
        guard let expected = row.warning else {
            #expect(warnings == [])
            return
        }
        #expect(warnings.count == 1 && warnings.first?.contains(expected) == true, "\(warnings)")
    }

    @Test("a payload is near its limit from nine tenths on, whatever the limit is")
    func nearLimit() {
        for (topic, limit) in [("com.a", 4_096), ("com.a.voip", 5_120)] {
            for (count, isNear) in [(limit * 9 / 10, false), (limit * 9 / 10 + 1, true), (limit, true)] {
                let filling = String(repeating: "x", count: count - #"{"aps":{"alert":""}}"#.utf8.count)
                let payload = Array(#"{"aps":{"alert":"\#(filling)"}}"#.utf8)
                let warnings = PushLint(PushDraft(id: "j", tokens: ["a1"], topic: topic, payload: payload)).warnings
                #expect(warnings.contains { $0.contains("\(count) of at most \(limit)") } == isNear)
            }
        }
    }

    @Test("volume and score out of range, with a critical sound, are several warnings")
    func several() {
        let payload = #"{"aps":{"sound":{"critical":1,"volume":1.5},"relevance-score":2}}"#
        let warnings = PushLint(
            PushDraft(id: "j", tokens: ["a1"], topic: "com.a", payload: Array(payload.utf8))
        ).warnings
        #expect(warnings.count == 3)
    }

    @Test("every push type of Apple's list has its rules, and its own topic satisfies them")
    func rules() {
        #expect(PushTypeRules.all.count == 11)
        for (name, rules) in PushTypeRules.all {
            #expect(rules.missingSuffix(in: "com.a\(rules.suffix)") == nil)
            #expect((rules.missingSuffix(in: "com.a") == nil) == rules.suffix.isEmpty)
            #expect(PushTypeRules.type(of: "com.a\(rules.suffix)") == (rules.suffix.isEmpty ? nil : name))
        }
    }
}
