import PushModel
import Testing
import Text

@testable import APNSClient

extension CredentialVerdict {
    /// A refusal; whom it concerns makes no difference here.
    fileprivate static let bad = refused(.everyRoute)
}

@Suite("Credential rotation decisions", .timeLimit(.minutes(1)))
struct CredentialRotationStateMachineTests {
    typealias Machine = CredentialRotationStateMachine

    enum Event: Sendable {
        case offered(Int)
        case judged(Int, CredentialVerdict)
        case proofLost(Int)
        case reached(Int)
        case doubted(Int)
        case retryProof
        case expired
        case retry
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let events: [Event]
        /// What the last event leads to.
        let actions: [Machine.Action]
        let state: Machine.State

        var testDescription: String { name }

        init(_ name: String, _ events: [Event], _ actions: [Machine.Action], _ state: Machine.State) {
            self.name = name
            self.events = events
            self.actions = actions
            self.state = state
        }
    }

    static let rows: [Row] = [
        Row("a new version proves itself beside the old one", [.offered(2)], [.openProof(2)], .proving(old: 1, new: 2)),
        Row("the same version is not news", [.offered(1)], [], .settled(1)),
        Row("the candidate offered again is not news", [.offered(2), .offered(2)], [], .proving(old: 1, new: 2)),
        Row(
            "a newer candidate replaces one not proven", [.offered(2), .offered(3)], [.dropProof(2), .openProof(3)],
            .proving(old: 1, new: 3)),
        Row("the first good answer switches", [.offered(2), .judged(2, .accepted)], [.switchTo(2)], .settled(2)),
        Row(
            "good answers to the old one prove nothing", [.offered(2), .judged(1, .accepted)], [],
            .proving(old: 1, new: 2)),
        Row(
            "an answer that says nothing decides nothing", [.offered(2), .judged(2, .unexamined)], [],
            .proving(old: 1, new: 2)),
        Row("a refused candidate is dropped", [.offered(2), .judged(2, .bad)], [.dropProof(2)], .settled(1)),
        Row(
            "late answers about a dropped candidate change nothing",
            [.offered(2), .judged(2, .bad), .judged(2, .bad)], [], .settled(1)),
        Row(
            "a refused candidate does not come back by itself", [.offered(2), .judged(2, .bad), .retryProof], [],
            .settled(1)),
        Row(
            "after a refused candidate the next one is tried", [.offered(2), .judged(2, .bad), .offered(3)],
            [.openProof(3)], .proving(old: 1, new: 3)),
        Row(
            "a refused candidate offered again is not news", [.offered(2), .judged(2, .bad), .offered(2)], [],
            .settled(1)),
        Row(
            "a refused candidate is asked for again once the old one is revoked",
            [.offered(2), .judged(2, .bad), .judged(1, .bad), .retry], [.switchTo(2)], .settled(2)),
        Row(
            "so is one that was used without a proof",
            [.offered(2), .reached(2), .judged(2, .bad), .judged(1, .bad), .retry], [.switchTo(2)],
            .settled(2)),
        Row(
            "where both are refused they take turns",
            [
                .offered(2), .judged(2, .bad), .judged(1, .bad), .retry, .judged(2, .bad), .retry,
            ],
            [.switchTo(1)], .settled(1)),
        Row(
            "a refused candidate takes over from one that expires",
            [.offered(2), .judged(2, .bad), .expired], [.closeAll(1), .switchTo(2)], .settled(2)),
        Row(
            "what has expired may come back, for the clock may be wrong",
            [.offered(2), .judged(2, .bad), .expired, .judged(2, .bad), .retry], [.switchTo(1)], .settled(1)),
        Row("a revoked version loses all its connections", [.judged(1, .bad)], [.closeAll(1)], .refused(1)),
        Row("it loses them once", [.judged(1, .bad), .judged(1, .bad)], [], .refused(1)),
        Row("somebody asks again", [.judged(1, .bad), .retry], [], .settled(1)),
        Row("asking again where nothing was refused is nothing", [.retry], [], .settled(1)),
        Row("revoked again", [.judged(1, .bad), .retry, .judged(1, .bad)], [.closeAll(1)], .refused(1)),
        Row(
            "a revoked version is replaced without a proof", [.judged(1, .bad), .offered(2)], [.switchTo(2)],
            .settled(2)),
        Row(
            "the old one revoked while the new one proves itself", [.offered(2), .judged(1, .bad)],
            [.closeAll(1), .switchTo(2)], .settled(2)),
        Row("expired", [.expired], [.closeAll(1)], .refused(1)),
        Row("expired once", [.expired, .expired], [], .refused(1)),
        Row(
            "expired while the new one proves itself", [.offered(2), .expired], [.closeAll(1), .switchTo(2)],
            .settled(2)),
        Row(
            "an answer to a version long gone", [.offered(2), .judged(2, .accepted), .judged(1, .bad)], [],
            .settled(2)),
        Row(
            "a lost proof waits", [.offered(2), .proofLost(2)], [], .proving(old: 1, new: 2)),
        Row(
            "a lost proof is tried again", [.offered(2), .proofLost(2), .retryProof], [.openProof(2)],
            .proving(old: 1, new: 2)),
        Row(
            "it is tried again once", [.offered(2), .proofLost(2), .retryProof, .retryProof], [],
            .proving(old: 1, new: 2)),
        Row("a proof under way is not tried again", [.offered(2), .retryProof], [], .proving(old: 1, new: 2)),
        Row(
            "where nothing is to be sent a connection that works is enough for now", [.offered(2), .reached(2)],
            [.switchTo(2)], .trying(old: 1, new: 2)),
        Row("a connection of another version is nothing", [.offered(2), .reached(1)], [], .proving(old: 1, new: 2)),
        Row("without a candidate no connection is anything", [.reached(1)], [], .settled(1)),
        Row(
            "the first good answer after that decides", [.offered(2), .reached(2), .judged(2, .accepted)], [],
            .settled(2)),
        Row(
            "a refusal brings the old one back", [.offered(2), .reached(2), .judged(2, .bad)], [.switchTo(1)],
            .settled(1)),
        Row(
            "a late refusal of the old one leaves nothing to come back",
            [.offered(2), .reached(2), .judged(1, .bad)],
            [], .settled(2)),
        Row(
            "trouble of the server changes nothing", [.offered(2), .reached(2), .judged(2, .unexamined)], [],
            .trying(old: 1, new: 2)),
        Row(
            "doubts bring the old one back until the next proof", [.offered(2), .reached(2), .doubted(2)],
            [.switchTo(1)], .proving(old: 1, new: 2)),
        Row(
            "that proof is asked for", [.offered(2), .reached(2), .doubted(2), .retryProof], [.openProof(2)],
            .proving(old: 1, new: 2)),
        Row(
            "doubts about a version in its proof are nothing new", [.offered(2), .doubted(2)], [],
            .proving(old: 1, new: 2)),
        Row(
            "a newer one proves itself beside the last that was proved, not beside one without proof",
            [.offered(2), .reached(2), .offered(3)], [.switchTo(1), .openProof(3)], .proving(old: 1, new: 3)),
        Row(
            "refused, it leaves the last that was proved",
            [.offered(2), .reached(2), .offered(3), .judged(3, .bad)],
            [.dropProof(3)], .settled(1)),
        Row("one without proof expires", [.offered(2), .reached(2), .expired], [.closeAll(2)], .refused(2)),
        Row(
            "another's proof lost is nothing", [.offered(2), .proofLost(1), .retryProof], [], .proving(old: 1, new: 2)),
    ]

    @Test("Every row of the table", arguments: rows)
    func table(row: Row) {
        var machine = Machine(version: 1)
        var actions: [Machine.Action] = []
        for event in row.events {
            actions = []
            switch event {
            case .offered(let version): actions = machine.offered(version)
            case .judged(let version, let verdict): actions = machine.judged(version, verdict)
            case .proofLost(let version): machine.proofLost(version)
            case .reached(let version): actions = machine.reached(version)
            case .doubted(let version): actions = machine.doubted(version)
            case .retryProof: actions = machine.retryProof()
            case .expired: actions = machine.expired()
            case .retry: actions = machine.retry()
            }
        }
        #expect(actions == row.actions)
        #expect(machine.state == row.state)
    }

    @Test("A refused version whose own time is not now does not take over, but is asked for when somebody asks")
    func untimelySpare() {
        var machine = Machine(version: 1)
        machine.keep(spare: 2)
        #expect(machine.offered(2) == [] && machine.expired(isSpareTimely: false) == [.closeAll(1)])
        #expect(machine.state == .refused(1) && machine.expired() == [])
        #expect(machine.retry() == [.switchTo(2)] && machine.spare == 1)
    }

    @Test(
        "Whatever happens, versions only grow and a switch follows acceptance or the end of the old", arguments: 0..<50)
    func property(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var machine = Machine(version: 1)
        var newest = 1
        for _ in 0..<200 {
            let before = machine.state
            let known = [machine.current, machine.candidate ?? machine.current, max(1, machine.current - 1)]
            let version = known.randomElement(using: &random) ?? 1
            var actions: [Machine.Action] = []
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                newest += 1
                actions = machine.offered(newest)
            case 1: actions = machine.judged(version, .accepted)
            case 2: actions = machine.judged(version, .bad)
            case 3: actions = machine.judged(version, .unexamined)
            case 4: machine.proofLost(version)
            case 5: actions = machine.expired()
            case 6: actions = machine.reached(version)
            case 7: actions = machine.doubted(version)
            default: actions = machine.retry()
            }
            for case .switchTo(let target) in actions {
                #expect(target == machine.current)
                // One that APNs refused before, where the only other one expired.
                let isLast = actions.contains { if case .closeAll = $0 { true } else { false } }
                if case .settled = before, !isLast { Issue.record("switched without a proof") }
            }
            if case .proving(let old, let new) = machine.state { #expect(old < new) }
            if let fallback = machine.fallback { #expect(fallback < machine.current && machine.candidate == nil) }
            #expect(machine.current <= newest)
        }
    }
}
