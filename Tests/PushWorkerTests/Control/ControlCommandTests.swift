import Testing

@testable import PushWorker

@Suite("What operators ask of all workers, as JSON", .timeLimit(.minutes(1)))
struct ControlCommandTests {
    private func parsed(_ json: String) -> ControlCommand? { ControlCommand(parsing: Array(json.utf8)) }

    /// A command with the given members in place of the usual ones; an empty value leaves a member out.
    private func json(_ changes: [String: String] = [:]) -> String {
        var members = [
            "type": #""martlet.control""#, "version": "1", "id": #""1""#, "action": #""pause""#, "route": #""app""#,
            "author": #""anna@ops1""#, "issued_at": "1700000000000",
        ]
        for (name, value) in changes { members[name] = value.isEmpty ? nil : value }
        return "{" + members.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
    }

    @Test("A command is what it was after it was written and read", arguments: ControlCommand.Action.allCases)
    func roundTrip(action: ControlCommand.Action) {
        let targets: [ControlCommand.Target] = [.route("app-é"), .campaign("campaign-7/\"\\\n")]
        for target in targets where action.applies(to: target) {
            var command = ControlCommand(
                id: "1", action: action, target: target, author: "a", issuedAt: 1_700_000_000_000)
            #expect(ControlCommand(parsing: command.json) == command)
            command.until = 99_999_999_999_999
            command.reason = "too many"
            command.perSecond = action == .rate ? 0.5 : nil
            command.leavesDeadLetters = action == .cancel
            #expect(ControlCommand(parsing: command.json) == command)
        }
    }

    @Test("Members that are not known are ignored")
    func unknownMembers() {
        let expected = ControlCommand(
            id: "1", action: .pause, target: .route("app"), author: "anna@ops1", issuedAt: 1_700_000_000_000)
        #expect(parsed(json()) == expected)
        #expect(parsed(json(["future": #"{"a": [1, null]}"#])) == expected)
    }

    @Test(
        "A time is read in every way in which a time may be written",
        arguments: ["1893499200000", "1893499200", #""1893499200""#, #""2030-01-01T12:00:00Z""#])
    func times(written: String) {
        #expect(parsed(json(["until": written]))?.until == 1_893_499_200_000)
        #expect(parsed(json(["issued_at": written]))?.issuedAt == 1_893_499_200_000)
    }

    @Test(
        "A command that is not complete, not of this form or not possible is none",
        arguments: [
            ["type": #""other""#], ["type": ""], ["version": "2"], ["version": ""], ["id": ""], ["id": #""""#],
            ["action": #""stop""#], ["action": ""], ["route": ""], ["campaign": #""c""#], ["route": #""""#],
            ["route": "7"], ["author": ""], ["author": #""""#], ["issued_at": ""], ["issued_at": "-1"],
            ["issued_at": "1e20"], ["issued_at": #""1""#], ["issued_at": "5"], ["until": "-1"],
            ["until": "253402300800000"], ["until": "17000000"], ["until": #""tomorrow""#], ["until": "1.5"],
            ["action": #""cancel""#], ["action": #""rate""#, "per_second": "0"],
            ["action": #""rate""#, "per_second": "0.0009"], ["action": #""rate""#, "per_second": "1000001"],
            ["per_second": "5"], ["dead_letters": "true"], ["dead_letters": "1"],
            ["action": #""trust""#, "route": "", "campaign": #""c""#],
            ["action": #""rate""#, "route": "", "campaign": #""c""#],
        ])
    func impossible(changes: [String: String]) { #expect(parsed(json(changes)) == nil, "\(changes)") }

    @Test("Texts and the whole have limits")
    func limits() {
        func quoted(_ count: Int) -> String { "\"" + String(repeating: "x", count: count) + "\"" }
        for member in ["id", "route", "author", "reason"] {
            #expect(parsed(json([member: quoted(ControlCommand.longestText)])) != nil, "\(member)")
            #expect(parsed(json([member: quoted(ControlCommand.longestText + 1)])) == nil, "\(member)")
        }
        let space = ControlCommand.maximumLength - json(["future": quoted(0)]).utf8.count
        #expect(parsed(json(["future": quoted(space)])) != nil)
        #expect(parsed(json(["future": quoted(space + 1)])) == nil)
    }

    @Test("Garbage is not a command")
    func garbage() {
        let bodies = [
            "", "{", "null", "[]", "7", "\"martlet.control\"", "{}", String(repeating: "[", count: 4_096),
            String(repeating: "{\"a\":", count: 600), json() + "x", "\u{0}",
        ]
        for body in bodies { #expect(parsed(body) == nil, "\(body.prefix(20))") }
        let invalid: [UInt8] = [0xFF, 0xFE, 0x7B, 0x7D]
        #expect(ControlCommand(parsing: invalid) == nil)
        let whole = Array(json().utf8)
        for length in 0..<whole.count { #expect(ControlCommand(parsing: Array(whole[..<length])) == nil, "\(length)") }
    }
}
