import EventLoop
import Testing

@testable import PushWorker

@Suite("What a lane's status says of its worker", .timeLimit(.minutes(1)))
struct LaneStatusTests {
    /// A lane that works.
    ///
    /// - Parameters:
    ///   - refused: Since when its publications are refused, in seconds; nil if they are not.
    ///   - confirmed: When one of them was confirmed last, in seconds; nil for never.
    private static func lane(refused: UInt64? = nil, confirmed: UInt64? = nil) -> LaneStatus {
        func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        return LaneStatus(
            index: 0, takenAt: time(100), isDraining: false, consume: "up", publish: "up", troubles: [],
            refusal: refused.map { LaneStatus.Refusal(text: "results_full", since: time($0)) },
            confirmedAt: confirmed.map(time), positions: [])
    }

    @Test(
        "Refused publications make a worker not ready unless another lane has had some confirmed meanwhile",
        arguments: [
            ([lane(confirmed: 90)], false),
            ([lane(refused: 50, confirmed: 90)], true),
            ([lane(refused: 50), lane()], true),
            ([lane(refused: 50), lane(confirmed: 49)], true),
            ([lane(refused: 50), lane(confirmed: 51)], false),
            ([lane(refused: 50), lane(refused: 60, confirmed: 61)], true),
            ([lane(refused: 50), lane(refused: 60), lane(confirmed: 55)], false),
        ])
    func refusals(lanes: [LaneStatus], isNotReady: Bool) {
        #expect(LaneStatus.refusals(of: lanes).isEmpty == !isNotReady)
    }

    @Test("While consuming waits for publishing, it tells what keeps publishing away, not what ended consuming before")
    func linkTroubles() {
        #expect(
            LaneStatus.troubles(consuming: (false, "reset by peer"), publishing: (false, "login refused")) == [
                "broker (consuming): login refused", "broker (publishing): login refused",
            ])
        #expect(
            LaneStatus.troubles(consuming: (false, "reset by peer"), publishing: (true, nil)) == [
                "broker (consuming): reset by peer"
            ])
        #expect(
            LaneStatus.troubles(consuming: (true, nil), publishing: (false, "reset by peer")) == [
                "broker (publishing): reset by peer"
            ])
        #expect(
            LaneStatus.troubles(consuming: (false, nil), publishing: (false, nil)) == [
                "broker (consuming): connecting", "broker (publishing): connecting",
            ])
        #expect(LaneStatus.troubles(consuming: (true, nil), publishing: (true, nil)).isEmpty)
    }

    @Test(
        "A lane is connected with both connections open, also while the broker blocks one; without routes it needs none",
        arguments: [
            ("up", "up", true, true), ("up", "blocked", true, true), ("up", "connecting", true, false),
            ("connecting", "up", true, false), ("up", "down", true, false), ("down", "up", true, false),
            ("connecting", "connecting", false, true),
        ])
    func connected(consume: String, publish: String, hasRoutes: Bool, isConnected: Bool) {
        var lane = Self.lane()
        (lane.consume, lane.publish) = (consume, publish)
        if hasRoutes {
            lane.positions = [
                LaneStatus.Route(name: "shop", state: .ready, connections: 1, troubles: [], limitedBy: .nothing)
            ]
        }
        #expect(lane.isConnected == isConnected)
    }
}
