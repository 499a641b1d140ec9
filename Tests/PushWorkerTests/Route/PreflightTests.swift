import EventLoop
import PushModel
import TestSupport
import Testing

@testable import PushWorker

@Suite("What is looked at before a notification is sent", .timeLimit(.minutes(1)))
struct PreflightTests: RouteSuite {
    private let cooling = CoolingTokens()
    private var preflight: Preflight { Preflight(RetryPolicy(), earlier: nil, cooling: cooling) }

    /// The only notification of a job.
    ///
    /// - Parameter fields: What the job says beside its token and payload.
    private func notification(_ fields: String = "") throws -> PushWorker.Notification {
        let route = try route()
        take(delivery(returns: 0, body: #"{"device_token":"aa11","payload":{"aps":{}}\#(fields)}"#), route)
        return try #require(route.devices.waiting.first).next(0)
    }

    /// What is found, in a word; `sent` for nothing.
    private func look(
        at notification: PushWorker.Notification, isPush: Bool = true, _ campaigns: [ControlCommand] = [],
        after milliseconds: Int64 = 0
    ) -> String {
        let verdict = preflight.clear(
            notification, isPush: isPush, campaigns: campaigns.isEmpty ? nil : CampaignIndex(campaigns),
            missing: [], at: Self.moment(1, wall: Self.wallClock + milliseconds))
        guard case .kept(let finding) = consume verdict else { return "sent" }
        return switch finding {
        case .over(let final): "over: \(final.outcome)"
        case .pushed: "pushed"
        case .expired: "expired"
        case .early(let tier): "early: \(tier)"
        case .paused(.tier): "paused"
        case .paused(.over(let final)): "paused: \(final.outcome)"
        case .resting: "resting"
        }
    }

    private static func command(_ action: ControlCommand.Action) -> ControlCommand {
        ControlCommand(
            id: "1", action: action, target: .campaign("c-7/"), author: "anna", issuedAt: 0, until: nil, reason: nil,
            leavesDeadLetters: false)
    }

    @Test("a notification is sent unless its time is over, or has not come")
    func times() throws {
        #expect(try look(at: notification()) == "sent")
        let deadline = try notification(#","deadline":\#(Self.wallClock + 1_000)"#)
        #expect(look(at: deadline) == "sent" && look(at: deadline, after: 2_000) == "expired")
        // The clock was set back by more than an hour.
        let late = try notification(#","not_before":\#(Self.wallClock - 10)"#)
        #expect(look(at: late) == "sent" && look(at: late, after: -3_700_000) == "early: 10")
        let named = try notification(#","not_before":\#(Self.wallClock - 10),"reference":"c-7/1""#)
        #expect(look(at: named, [Self.command(.cancel)], after: -3_700_000) == "over: cancelled")
    }

    @Test("a device token that rests keeps pushes back, and no other requests")
    func resting() throws {
        let tired = try notification()
        cooling.cool(tired.coolingKey, until: Self.moment(61).monotonic, now: Self.moment(1).monotonic)
        #expect(look(at: tired) == "resting" && look(at: tired, isPush: false) == "sent")
    }

    @Test("a campaign that is cancelled or paused keeps its notifications back, if they were not sent before")
    func campaigns() throws {
        var named = try notification(#","reference":"c-7/1""#)
        #expect(look(at: named, [Self.command(.cancel)]) == "over: cancelled")
        #expect(look(at: named, [Self.command(.pause)]) == "paused")
        named.refusals = 1
        #expect(look(at: named, [Self.command(.cancel)]) == "sent")
        #expect(try look(at: notification(), [Self.command(.cancel)]) == "sent")
    }

    @Test("a campaign that looks cancelled before all commands are read keeps its notifications back for seconds")
    func undecided() throws {
        let named = try notification(#","reference":"c-7/1""#)
        let rows: [(action: ControlCommand.Action, seconds: Int)] = [(.cancel, 2), (.pause, 1_800)]
        for row in rows {
            let verdict = preflight.clear(
                named, isPush: true, campaigns: CampaignIndex([Self.command(row.action)], cancels: false),
                missing: [], at: Self.moment(1))
            guard case .kept(.paused(.tier(let tier))) = consume verdict else {
                Issue.record("\(row)")
                continue
            }
            // Of the tiers that hold jobs, the longest that ends within ten seconds.
            #expect(RetryPolicy().allTiers[tier] == .seconds(row.seconds), "\(row)")
            #expect(tier >= RetryPolicy().tiers.count)
        }
    }

    @Test("a notification whose time is over is reported so, whatever becomes of its campaign and its device token")
    func order() throws {
        let all = try notification(#","reference":"c-7/1","deadline":\#(Self.wallClock + 1_000)"#)
        cooling.cool(all.coolingKey, until: Self.moment(61).monotonic, now: Self.moment(1).monotonic)
        #expect(look(at: all, [Self.command(.cancel)]) == "over: cancelled")
        #expect(look(at: all, [Self.command(.cancel)], after: 2_000) == "expired")
    }
}
