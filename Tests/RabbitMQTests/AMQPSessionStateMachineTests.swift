import EventLoop
import Testing

@testable import RabbitMQ

@Suite("What may come next on a connection", .timeLimit(.minutes(1)))
struct AMQPSessionStateMachineTests {
    private typealias Machine = AMQPSessionStateMachine
    private typealias Event = AMQPSessionStateMachine.ConnectionEvent

    private static let wanted = AMQPLimits(channelMax: 256, frameMax: 131_072, heartbeat: 15)
    private static let begin = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let start = Event.start(
        major: 0, minor: 9, mechanisms: "AMQPLAIN PLAIN", version: BrokerVersion("4.0.5"))
    private static let tune = Event.tune(AMQPLimits(channelMax: 2047, frameMax: 131_072, heartbeat: 60))

    /// A connection that went through these phases.
    private static func machine(_ phase: Machine.Phase) throws(AMQPError) -> Machine {
        var machine = Machine(wanted: wanted, mechanism: "PLAIN", now: begin)
        guard phase != .awaitingStart else { return machine }
        _ = try machine.received(start)
        guard phase != .awaitingTune else { return machine }
        _ = try machine.received(tune)
        guard phase != .awaitingOpenOk else { return machine }
        _ = try machine.received(.openOk)
        guard phase != .open else { return machine }
        _ = machine.close()
        guard phase != .closing else { return machine }
        _ = try machine.received(.closeOk)
        return machine
    }

    @Test("each phase takes what belongs there, answers it, and refuses everything else")
    func table() throws {
        let phases: [Machine.Phase] = [.awaitingStart, .awaitingTune, .awaitingOpenOk, .open, .closing, .closed]
        let close = Event.close(code: 320, text: "CONNECTION_FORCED")
        let confirm = Machine.ConnectionAction.confirmClose(code: 320, text: "CONNECTION_FORCED")
        // One column for each phase; nil is a violation.
        let rows: [(Event, [Machine.ConnectionAction?])] = [
            (Self.start, [.logIn, nil, nil, nil, nil, nil]),
            (.secure, [nil, nil, nil, nil, nil, nil]),
            (Self.tune, [nil, .open(Self.wanted), nil, nil, nil, nil]),
            (.openOk, [nil, nil, .report, nil, nil, nil]),
            (.blocked(reason: "low on memory"), [nil, nil, nil, .report, .ignore, nil]),
            (.unblocked, [nil, nil, nil, .report, .ignore, nil]),
            (close, [confirm, confirm, confirm, confirm, confirm, nil]),
            (.closeOk, [nil, nil, nil, nil, .report, nil]),
        ]
        for (event, actions) in rows {
            for (phase, expected) in zip(phases, actions) {
                var machine = try Self.machine(phase)
                try #require(machine.phase == phase)
                let action = try? machine.received(event)
                #expect(action == expected, "\(event) in \(phase)")
            }
        }
    }

    @Test(
        "limits are the smaller of both sides, and 0 means none",
        arguments: [
            (AMQPLimits(channelMax: 0, frameMax: 0, heartbeat: 0), wanted),
            (
                AMQPLimits(channelMax: 10, frameMax: 8192, heartbeat: 5),
                AMQPLimits(channelMax: 10, frameMax: 8192, heartbeat: 5)
            ),
            (AMQPLimits(channelMax: 65_535, frameMax: .max, heartbeat: 600), wanted),
        ])
    func limits(offer: AMQPLimits, agreed: AMQPLimits) {
        #expect(Self.wanted.agreed(with: offer) == agreed)
    }

    @Test("a broker is refused in words that speaks another version, offers no login of ours, or too small frames")
    func refusals() throws {
        func refusal(_ events: Event..., mechanism: String = "PLAIN") -> AMQPError? {
            var machine = Machine(wanted: Self.wanted, mechanism: mechanism, now: Self.begin)
            do throws(AMQPError) {
                for event in events { _ = try machine.received(event) }
                return nil
            } catch {
                return error
            }
        }
        let version = refusal(.start(major: 1, minor: 0, mechanisms: "PLAIN", version: nil))
        #expect(version?.code == .protocolViolation && version?.message.contains("1.0") == true)
        let login = refusal(Self.start, mechanism: "EXTERNAL")
        #expect(login?.code == .refused && login?.message.contains("EXTERNAL") == true)
        #expect(refusal(Self.start, .secure)?.code == .refused)
        let frames = refusal(Self.start, .tune(AMQPLimits(channelMax: 0, frameMax: 4096, heartbeat: 0)))
        #expect(frames?.code == .unsuitable && frames?.message.contains("frame_max") == true)
    }

    @Test("the end is asked for once, and only after the login")
    func closing() throws {
        for (phase, isAsked) in [
            (Machine.Phase.awaitingStart, false), (.awaitingTune, false), (.awaitingOpenOk, true), (.open, true),
            (.closing, false), (.closed, false),
        ] {
            var machine = try Self.machine(phase)
            let first = machine.close()
            let second = machine.close()
            #expect(first == isAsked && !second, "\(phase)")
        }
    }

    // MARK: Channels

    /// An open connection whose channel 1 went through this phase.
    private static func channel(_ phase: Machine.ChannelPhase) throws(AMQPError) -> Machine {
        var machine = try machine(.open)
        guard phase != .unused else { return machine }
        machine.openChannel(1)
        guard phase != .opening else { return machine }
        _ = try machine.received(.openOk, on: 1)
        guard phase != .open else { return machine }
        _ = machine.closeChannel(1)
        guard phase != .closing else { return machine }
        _ = try machine.received(.closeOk, on: 1)
        return machine
    }

    @Test("a channel takes what belongs to its phase, and drops what was under way when it was closed")
    func channels() throws {
        let phases: [Machine.ChannelPhase] = [.unused, .opening, .open, .closing, .closed]
        // One column for each phase; nil is a violation.
        let rows: [(Machine.ChannelEvent, [Machine.ChannelAction?])] = [
            (.openOk, [nil, .opened, nil, .ignore, .ignore]),
            (.close, [nil, .confirmClose, .confirmClose, .confirmClose, .confirmAgain]),
            (.closeOk, [nil, nil, nil, .closed, .ignore]),
            (.other, [nil, nil, .take, .ignore, .ignore]),
        ]
        for (event, actions) in rows {
            for (phase, expected) in zip(phases, actions) {
                var machine = try Self.channel(phase)
                try #require(machine.phase(of: 1) == phase)
                let action = try? machine.received(event, on: 1)
                #expect(action == expected, "\(event) on a channel that is \(phase)")
            }
        }
    }

    @Test("a closed channel can be opened again, and a channel is closed only where it is open or opening")
    func reopening() throws {
        for (phase, isAsked) in [
            (Machine.ChannelPhase.unused, false), (.opening, true), (.open, true), (.closing, false), (.closed, false),
        ] {
            var machine = try Self.channel(phase)
            let isSent = machine.closeChannel(1)
            #expect(isSent == isAsked, "\(phase)")
        }
        var machine = try Self.channel(.closed)
        machine.openChannel(1)
        let action = try machine.received(.openOk, on: 1)
        #expect(action == .opened)
    }

    @Test("after the end is asked for, nothing on any channel counts, and after the end it is a violation")
    func afterTheEnd() throws {
        var machine = try Self.channel(.open)
        _ = machine.close()
        let (known, unknown) = (try machine.received(.other, on: 1), try machine.received(.other, on: 9))
        #expect(known == .ignore && unknown == .ignore)
        _ = try machine.received(.closeOk)
        #expect(throws: AMQPError.self) { try machine.received(.other, on: 1) }
    }

    // MARK: Heartbeats

    @Test("silence is judged by the negotiated interval, and only once the login is complete")
    func silence() throws {
        let later = Self.begin.adding(.seconds(3600))
        for phase in [Machine.Phase.awaitingStart, .awaitingTune, .awaitingOpenOk, .closed] {
            let machine = try Self.machine(phase)
            #expect(!machine.isLost(now: later) && !machine.isSuspect(now: later) && !machine.owesHeartbeat(now: later))
            #expect(machine.nextHeartbeatEvent(now: later) == nil)
        }
        var machine = try Self.machine(.open)
        #expect(machine.isLost(now: later) && machine.isSuspect(now: later) && machine.owesHeartbeat(now: later))
        machine.heard(now: later)
        machine.sent(now: later)
        #expect(!machine.isSuspect(now: later) && !machine.owesHeartbeat(now: later))
        #expect(machine.nextHeartbeatEvent(now: later) == later.adding(.milliseconds(7_500)))
        // A clock that seems to go back does not make the broker older.
        machine.heard(now: Self.begin)
        #expect(!machine.isSuspect(now: later))
    }
}
