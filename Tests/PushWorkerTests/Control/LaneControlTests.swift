import EventLoop
import Testing

@testable import PushWorker

@Suite("When a lane's routes are told what operators want", .timeLimit(.minutes(1)))
struct LaneControlTests {
    private func moment(_ seconds: Int64, wall: Int64? = nil) -> Moment {
        Moment(monotonic: MonotonicTime(nanoseconds: 0) + .seconds(seconds), wall: wall ?? seconds * 1_000)
    }

    private func isDue(_ control: inout LaneControl, isConnected: Bool, at moment: Moment) -> Bool {
        control.isDue(isConnected: isConnected, at: moment)
    }

    private func rate(_ control: inout LaneControl, of route: String = "app", at seconds: Int64) -> SendingRate? {
        control.fleetRate(ofRoute: route, at: moment(seconds))
    }

    private func state(until: Int64?) -> ControlState {
        var state = ControlState()
        state.apply(
            ControlCommand(
                id: "1", action: .pause, target: .route("app"), author: "anna", issuedAt: 0, until: until), at: 0)
        return state
    }

    @Test("A lane that will be told lets its routes wait until then")
    func awaited() {
        var control = LaneControl(isAwaited: true, startedAt: 0)
        #expect(isDue(&control, isConnected: false, at: moment(0)) && control.isAwaited)
        control.told(at: 0)
        #expect(!isDue(&control, isConnected: true, at: moment(1)))
        control.learned(state(until: nil))
        #expect(isDue(&control, isConnected: true, at: moment(2)) && !control.isAwaited)
        control.told(at: 2_000)
        #expect(!isDue(&control, isConnected: true, at: moment(100)))
    }

    @Test("It waits for ten seconds with a connection to the broker, and as long as it takes without one")
    func patience() {
        var control = LaneControl(isAwaited: true, startedAt: 0)
        control.told(at: 0)
        #expect(!isDue(&control, isConnected: false, at: moment(1_000)))
        #expect(!isDue(&control, isConnected: true, at: moment(2_000)))
        #expect(!isDue(&control, isConnected: true, at: moment(2_009)) && control.isAwaited)
        #expect(isDue(&control, isConnected: true, at: moment(2_010)) && !control.isAwaited)
        control.told(at: 0)
        #expect(!isDue(&control, isConnected: true, at: moment(3_000)))
    }

    @Test("A lane that will not be told waits for nothing")
    func notAwaited() {
        var control = LaneControl(isAwaited: false, startedAt: 0)
        #expect(!isDue(&control, isConnected: true, at: moment(0)) && !control.isAwaited)
    }

    @Test("What had ended is due again once the clock was set back")
    func setBack() {
        var control = LaneControl(isAwaited: false, startedAt: 0)
        control.learned(state(until: 50_000))
        #expect(isDue(&control, isConnected: true, at: moment(60)))
        control.told(at: 60_000)
        #expect(!isDue(&control, isConnected: true, at: moment(61)))
        #expect(isDue(&control, isConnected: true, at: moment(62, wall: 40_000)))
        control.told(at: 40_000)
        #expect(!isDue(&control, isConnected: true, at: moment(63, wall: 41_000)))
        #expect(isDue(&control, isConnected: true, at: moment(72, wall: 50_000)))
    }

    @Test("What ends by itself is due then, however the clock was set")
    func ends() {
        var control = LaneControl(isAwaited: false, startedAt: 0)
        control.learned(state(until: 50_000))
        control.told(at: 1_000)
        #expect(!isDue(&control, isConnected: true, at: moment(49)))
        #expect(isDue(&control, isConnected: true, at: moment(50)))
        #expect(isDue(&control, isConnected: true, at: moment(2, wall: 90_000)), "the clock was set")
        control.told(at: 90_000)
        #expect(!isDue(&control, isConnected: true, at: moment(3, wall: 91_000)))
    }

    @Test("An old word about dead tokens is not told, however late it is read", arguments: [-1, 0, 1])
    func oldTrust(milliseconds: Int64) {
        var control = LaneControl(isAwaited: false, startedAt: 50_000)
        var state = ControlState()
        let command = ControlCommand(
            id: "1", action: .trust, target: .route("app"), author: "anna", issuedAt: 50_000 + milliseconds)
        state.apply(command, at: 0)
        control.learned(state)
        let wanted = control.wanted(ofRoute: "app", state.campaigns(at: 60_000), at: 60_000)
        #expect(wanted.trust == (milliseconds < 0 ? nil : "1"))
    }

    @Test("A route whose part of a rate is not known yet sends nothing until it is, and is free once the rate ends")
    func awaitedPart() throws {
        var control = LaneControl(isAwaited: false, startedAt: 0)
        #expect(rate(&control, at: 1) == nil)
        var state = ControlState()
        var command = ControlCommand(
            id: "1", action: .rate, target: .route("app"), author: "anna", issuedAt: 0, until: 50_000)
        command.perSecond = 100
        state.apply(command, at: 0)
        control.learned(state)
        let awaited = try #require(rate(&control, at: 1))
        #expect(awaited.available(now: moment(40).monotonic) == 0)
        #expect(rate(&control, at: 2) === awaited, "one wait")
        #expect(rate(&control, of: "news", at: 2) == nil)
        control.deal(["app": FleetRates.Part(perSecond: 50)], now: moment(3).monotonic)
        let part = try #require(rate(&control, at: 3))
        #expect(part.perSecond == 50)
        control.deal(["app": FleetRates.Part(perSecond: 50)], now: moment(4).monotonic)
        #expect(rate(&control, at: 4) === part, "a part that stays keeps its bucket")
        control.deal([:], now: moment(5).monotonic)
        #expect(rate(&control, at: 49) != nil)
        #expect(rate(&control, at: 50) == nil)
    }
}
