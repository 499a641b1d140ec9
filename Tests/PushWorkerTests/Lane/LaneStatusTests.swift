import EventLoop
import Testing

@testable import PushWorker

@Suite("What a lane's status says of its worker", .timeLimit(.minutes(1)))
struct LaneStatusTests {
    /// A lane that works.
    private static let lane = LaneStatus(
        takenAt: MonotonicTime(nanoseconds: 1), isDraining: false, consume: "up", publish: "up", troubles: [],
        positions: [])

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
        "A lane is connected with both connections open, also while the broker blocks one",
        arguments: [
            ("up", "up", true), ("up", "blocked", true), ("up", "connecting", false), ("connecting", "up", false),
            ("up", "down", false), ("down", "up", false),
        ])
    func connected(consume: String, publish: String, isConnected: Bool) {
        var lane = Self.lane
        (lane.consume, lane.publish) = (consume, publish)
        #expect(lane.isConnected == isConnected)
    }
}
