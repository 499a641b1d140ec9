import Testing

@testable import PushWorker

@Suite("Recent maximum", .timeLimit(.minutes(1)))
struct RecentMaximumTests {
    @Test(
        "The largest value counts for one window at least and two at most",
        arguments: [0, 1_000_000_000_000] as [UInt64])
    func windows(start: UInt64) {
        let second: UInt64 = 1_000_000_000
        var maximum = RecentMaximum()
        #expect(maximum.value(now: start) == 0)
        // When it is asked, in seconds from the start, what is noted first, and the answer.
        let rows: [(UInt64, note: UInt64?, value: UInt64)] = [
            (1, 5, 5), (2, 3, 5), (59, nil, 5), (61, 1, 5), (119, nil, 5), (122, nil, 1), (190, nil, 0), (191, 2, 2),
            (1_000, nil, 0),
        ]
        for (seconds, note, value) in rows {
            let now = start + seconds * second
            if let note { maximum.note(note, now: now) }
            #expect(maximum.value(now: now) == value, "after \(seconds) s")
        }
    }
}
