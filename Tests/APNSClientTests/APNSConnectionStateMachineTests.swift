import EventLoop
import HTTP2
import PushModel
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("What a connection admits", .timeLimit(.minutes(1)))
struct APNSConnectionStateMachineTests {
    typealias Machine = APNSConnectionStateMachine

    static func open(limit: Int = 10, usesToken: Bool = false, ownLimit: Int = 1_000) -> Machine {
        var machine = Machine(usesToken: usesToken, ownLimit: ownLimit)
        machine.settingsReceived(maxConcurrentStreams: limit)
        return machine
    }

    static func submit(_ machine: inout Machine, _ count: Int = 1) {
        for _ in 0..<count { machine.submitted(streamID: 1, now: 0) }
    }

    @Test("One stream until SETTINGS, whatever the credential", arguments: [true, false])
    func settling(usesToken: Bool) {
        var machine = Machine(usesToken: usesToken, ownLimit: 1_000)
        #expect(machine.freeStreams == 1)
        Self.submit(&machine)
        #expect(machine.freeStreams == 0)
        #expect(!machine.admits(bytes: 1, window: 65_535))
        machine.settingsReceived(maxConcurrentStreams: 500)
        #expect(machine.phase == (usesToken ? .proving : .open))
        #expect(machine.freeStreams == (usesToken ? 0 : 499))
    }

    @Test(
        "With tokens, the first answer that is not 403 opens the connection",
        arguments: [(200, true), (400, true), (410, true), (429, true), (500, true), (403, false)])
    func proving(status: Int, opens: Bool) {
        var machine = Self.open(usesToken: true)
        Self.submit(&machine)
        machine.streamEnded(.answered(status: status), now: 0)
        #expect(machine.phase == (opens ? .open : .proving))
        #expect(machine.freeStreams == (opens ? 10 : 1))
    }

    @Test("Neither silence nor a refusal proves a token", arguments: [Machine.StreamEnd.unanswered, .unprocessed])
    func notProved(end: Machine.StreamEnd) {
        var machine = Self.open(usesToken: true)
        Self.submit(&machine)
        machine.streamEnded(end, now: 0)
        #expect(machine.phase == .proving)
        #expect(!machine.hasAnswered)
    }

    @Test(
        "The limit is the peer's as it is now, and ours where that is lower",
        arguments: [(0, 0), (1, 1), (500, 500), (1_000, 1_000), (Int(UInt32.max), 1_000)])
    func limits(announced: Int, expected: Int) {
        #expect(Self.open(limit: announced).streamLimit == expected)
    }

    @Test("A lowered limit leaves open streams alone and admits none until they are fewer")
    func lowered() {
        var machine = Self.open(limit: 10)
        Self.submit(&machine, 8)
        machine.settingsReceived(maxConcurrentStreams: 2)
        #expect(machine.openStreams == 8)
        #expect(machine.freeStreams == 0)
        #expect(machine.isThrottled)
        for left in stride(from: 7, through: 2, by: -1) {
            machine.streamEnded(.answered(status: 200), now: 0)
            #expect(machine.openStreams == left)
            #expect(machine.freeStreams == 0)
        }
        machine.streamEnded(.answered(status: 200), now: 0)
        #expect(machine.freeStreams == 1)
    }

    @Test("Payloads fit the window")
    func window() {
        var machine = Self.open()
        #expect(machine.admits(bytes: 5_000, window: 5_000))
        Self.submit(&machine)
        #expect(machine.admits(bytes: 1_000, window: 1_000))
        #expect(!machine.admits(bytes: 1_001, window: 1_000))
        #expect(machine.capacity(window: 1_000, usualBytes: 300) == 3)
        #expect(machine.capacity(window: 100_000, usualBytes: 300) == 9)
        machine.streamEnded(.answered(status: 200), now: 0)
        // With nothing open a request may begin in any window, or none ever would.
        #expect(machine.admits(bytes: 1_001, window: -1))
        #expect(machine.capacity(window: 0, usualBytes: 300) == 1)
    }

    @Test(
        "What retires a connection",
        arguments: [
            ([.answered(status: 503, .shutdown)], .answer),
            ([.unanswered, .unanswered, .unanswered], .strikes),
            ([.unanswered, .answered(status: 200), .unanswered, .unanswered], .strikes),
            (Array(repeating: .answered(status: 500), count: 10), .serverErrors),
            (Array(repeating: .unprocessed, count: 100), .refusals),
            ([.unanswered, .unanswered], nil),
            (
                Array(repeating: .answered(status: 500), count: 9) + [.answered(status: 200)]
                    + Array(repeating: .answered(status: 503), count: 9), nil
            ),
            (Array(repeating: .unprocessed, count: 99) + [.answered(status: 200), .unprocessed], nil),
            (Array(repeating: .answered(status: 400), count: 50), nil),
        ] as [([Machine.StreamEnd], Machine.Retirement?)])
    func retirement(ends: [Machine.StreamEnd], expected: Machine.Retirement?) {
        var machine = Self.open(limit: 1_000)
        for end in ends where machine.isAdmitting {
            Self.submit(&machine)
            machine.streamEnded(end, now: 1)
        }
        #expect(machine.retirement == expected)
        #expect(machine.isAdmitting == (expected == nil))
        #expect(machine.wantsReplacement == (expected != nil))
    }

    @Test("Strikes are forgotten after ten minutes")
    func oldStrikes() {
        var machine = Self.open()
        for minute in [0, 1, 12, 23, 34] {
            Self.submit(&machine)
            machine.streamEnded(.unanswered, now: 0 + .seconds(minute * 60))
        }
        #expect(machine.isAdmitting)
    }

    @Test("After refusals fewer streams are offered, and more again with each answer")
    func refusals() {
        var machine = Self.open(limit: 10)
        Self.submit(&machine, 5)
        machine.streamEnded(.unprocessed, now: 0)
        #expect(machine.streamLimit == 4)
        machine.streamEnded(.answered(status: 200), now: 0)
        machine.streamEnded(.answered(status: 200), now: 0)
        #expect(machine.streamLimit == 6)
    }

    @Test("After GOAWAY nothing is admitted; with the last answer the connection is drained")
    func goAway() {
        var machine = Self.open()
        Self.submit(&machine, 2)
        machine.goAwayReceived()
        #expect(machine.freeStreams == 0)
        #expect(machine.wantsReplacement)
        machine.streamEnded(.unprocessed, now: 0)
        #expect(!machine.isDrained)
        machine.settingsReceived(maxConcurrentStreams: 100)
        #expect(machine.phase == .draining)
        machine.streamEnded(.answered(status: 200), now: 0)
        #expect(machine.isDrained)
        machine.retire(.requested)
        #expect(machine.retirement == .goAway)
    }

    @Test("A connection whose stream numbers run out asks for another, and stops in time")
    func exhausted() {
        var machine = Self.open(limit: 100)
        machine.submitted(streamID: Machine.ageingStreamID - 2, now: 0)
        #expect(!machine.wantsReplacement)
        machine.submitted(streamID: Machine.ageingStreamID, now: 0)
        #expect(machine.wantsReplacement)
        #expect(machine.isAdmitting)
        machine.submitted(streamID: Machine.lastStreamID, now: 0)
        #expect(machine.retirement == .exhausted)
    }

    @Test("A connection that is to be replaced goes on until the other is open")
    func replacement() {
        var machine = Self.open()
        machine.replacementOpened()
        #expect(machine.isAdmitting)
        machine.requestReplacement()
        #expect(machine.isAdmitting)
        machine.replacementOpened()
        #expect(machine.retirement == .requested)
    }

    @Test("Whatever happens, streams and window are never overdrawn", arguments: 0..<200)
    func property(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var machine = Machine(usesToken: seed % 2 == 0, ownLimit: 50)
        var announced = 1
        var hasSettings = false
        var isProved = seed % 2 != 0
        var window = 65_535
        var unsent = 0
        var open = 0
        for step in 0..<400 where machine.phase != .closed {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let bytes = Int.random(in: 1...5_120, using: &random)
                guard machine.admits(bytes: bytes, window: window - unsent) else { continue }
                // What must hold of every request that is admitted.
                #expect(machine.retirement == nil)
                #expect(hasSettings ? open < announced : open == 0)
                #expect(open < (isProved ? 50 : 1))
                #expect(unsent + bytes <= window || open == 0)
                machine.submitted(streamID: Int32(step * 2 + 1), now: 0)
                open += 1
                unsent += bytes
            case 5:
                announced = Int.random(in: 0...60, using: &random)
                hasSettings = true
                machine.settingsReceived(maxConcurrentStreams: announced)
            case 6:
                let sent = min(unsent, window)
                window -= sent
                unsent -= sent
            case 7: window = min(65_535, window + Int.random(in: 0...30_000, using: &random))
            case 8..<11:
                guard open > 0 else { continue }
                open -= 1
                if open == 0 {
                    window = max(0, window - unsent)
                    unsent = 0
                }
                let ends: [Machine.StreamEnd] = [
                    .answered(status: 200), .answered(status: 403), .answered(status: 500),
                    .unprocessed, .unanswered,
                ]
                let end = ends[Int.random(in: 0..<ends.count, using: &random)]
                machine.streamEnded(end, now: 0 + .seconds(step * 200))
                if case .answered(let meaning) = end, !meaning.credential.turnsAway, hasSettings { isProved = true }
            default:
                if Int.random(in: 0..<20, using: &random) == 0 { machine.goAwayReceived() }
            }
            #expect(machine.openStreams == open)
        }
    }
}

extension APNSConnectionStateMachine.StreamEnd {
    /// With an answer of this status and reason.
    static func answered(status: Int, _ reason: Reason? = nil) -> Self {
        .answered(AnswerMeaning(status: status, reason: reason))
    }
}
