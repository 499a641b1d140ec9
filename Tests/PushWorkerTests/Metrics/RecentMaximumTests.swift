import EventLoop
import Testing

@testable import PushWorker

@Suite("Recent maximum", .timeLimit(.minutes(1)))
struct RecentMaximumTests {
    @Test("The longest time counts for one window at least and two at most", arguments: [0, 1_000] as [Int])
    func windows(start: Int) {
        let start = MonotonicTime(nanoseconds: 0) + .seconds(start)
        var maximum = RecentMaximum()
        #expect(maximum.value(now: start) == .zero)
        // When it is asked, in seconds from the start, what is noted first in milliseconds, and the answer.
        let rows: [(Int, note: Int?, value: Int)] = [
            (1, 5, 5), (2, 3, 5), (59, nil, 5), (61, 1, 5), (119, nil, 5), (122, nil, 1), (190, nil, 0), (191, 2, 2),
            (1_000, nil, 0),
        ]
        for (seconds, note, value) in rows {
            let now = start + .seconds(seconds)
            if let note { maximum.note(.milliseconds(note), now: now) }
            #expect(maximum.value(now: now) == .milliseconds(value), "after \(seconds) s")
        }
    }
}
