import EventLoop
import Testing

@testable import PushWorker

@Suite("When a stream was read to its end", .timeLimit(.minutes(1)))
struct StreamReplayTests {
    private static let patience = StreamReplay.Patience(
        first: .milliseconds(500), ifEmpty: .milliseconds(200), quiet: .milliseconds(250), longest: .seconds(2))

    private func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    @Test(
        "It is due once it is quiet, by its count, or after the longest time",
        arguments: [
            (false, [], 500), (true, [], 200), (false, [100], 350), (true, [100], 350), (false, [400, 600], 850),
            (false, (0..<40).map { $0 * 50 }, 2_000),
        ] as [(Bool, [Int], Int)])
    func due(isCountedEmpty: Bool, messages: [Int], at wanted: Int) {
        var replay = StreamReplay(Self.patience, now: time(0), isCountedEmpty: isCountedEmpty)
        for message in messages {
            replay.tick(now: time(message))
            #expect(!replay.isComplete)
            replay.heard(now: time(message))
        }
        #expect(replay.dueAt == time(wanted))
        replay.tick(now: time(wanted - 1))
        #expect(!replay.isComplete)
        replay.tick(now: time(wanted))
        #expect(replay.isComplete)
    }

    @Test("A message that comes after the end does not begin it anew")
    func later() {
        var replay = StreamReplay(Self.patience, now: time(0), isCountedEmpty: true)
        replay.tick(now: time(200))
        replay.heard(now: time(300))
        replay.tick(now: time(301))
        #expect(replay.isComplete)
    }
}
