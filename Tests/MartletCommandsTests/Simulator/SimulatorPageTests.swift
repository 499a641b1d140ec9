import ArgumentParser
import PushModel
import TestSupport
import Testing

@testable import APNSSimulator
@testable import MartletCommands

@Suite("The page about the answers of the simulator", .timeLimit(.minutes(1)))
struct SimulatorPageTests {
    private let page: Page

    init() throws { page = try Page(documentation: "Simulator") }

    /// What the simulator does with a push to a device token, each time.
    private static func verdict(_ prefix: String) throws -> Verdict.Action {
        let token = Array((prefix + String(repeating: "a", count: 64)).utf8.prefix(64))
        let sequence = try #require(DeviceTokenPrefix.sequence(of: token, now: 1_763_712_800_100), "\(prefix)")
        #expect(sequence.count == nil, "\(prefix)")
        return sequence.first.action
    }

    /// What a worker does about it in the end, with a job that may not wait and wants no second push.
    private static func action(_ attempted: Attempted) throws -> PushModel.Action {
        let facts = AttemptFacts(expiration: 0, onUnknown: .report, resends: RetryPolicy.maximumResends)
        let settlement = RetryPolicy().settle(attempted, job: facts, now: 1_763_712_800_100)
        guard case .report(let final) = settlement else {
            Issue.record("\(settlement) is not final")
            return .none
        }
        return final.action
    }

    @Test("Simulator lists prefixes with the answer that they choose, and the action that follows")
    func prefixes() throws {
        let rows = page.rows("prefix", in: "What chooses an answer")
        for row in rows {
            let prefix = try #require(Page.quoted(row[0]).first)
            let (answer, action) =
                switch try Self.verdict(prefix) {
                case .accept: ("200", try Self.action(.response(Answer(status: 200, reason: nil))))
                case .refuse(let refusal):
                    (
                        row[1].contains("`") ? "\(refusal.status) `\(refusal.reason)`" : "\(refusal.status)",
                        try Self.action(
                            .response(Answer(status: refusal.status, reason: Reason(rawValue: refusal.reason))))
                    )
                case .close: ("none, the connection is closed", try Self.action(.unanswered(.connectionLost)))
                case .silent, .reset, .goAway, .lose, .freeze, .gateway: ("", PushModel.Action.none)
                }
            #expect(row[1].prefix { $0 != "," && $0 != ":" } == answer.prefix { $0 != "," }, "\(prefix)")
            #expect(row[1].hasPrefix(answer), "\(prefix)")
            #expect(Page.quoted(row[2]).first == action.rawValue, "\(prefix)")
        }
        // A hold takes many dead device tokens.
        let actions = Set(PushModel.Action.allCases.map(\.rawValue)).subtracting([PushModel.Action.hold.rawValue])
        #expect(Set(rows.compactMap { Page.quoted($0[2]).first }) == actions && rows.count == actions.count)
    }

    @Test("The simulator has every option that Simulator names among the rules, with the values that it names")
    func options() throws {
        let known = try #require(CommandTree(SimulatorCommand.self)).options
        let named = ["What chooses an answer", "What it does otherwise"].flatMap { Page.quoted(page.text(of: $0)) }
            .filter { $0.hasPrefix("--") }
        #expect(named.count > 12)
        for option in named {
            let words = option.split(separator: " ").map(String.init)
            #expect(known[words[0]] != nil, "\(option)")
            if words.count > 1 { _ = try SimulatorCommand.parseAsRoot(words) }
        }
    }
}
