import Testing

@testable import MartletCommands

@Suite("Dead letters: the oldest of them", .timeLimit(.minutes(1)))
struct OldestLettersTests {
    /// Offers letters by the time of their death, and gives the times of those that are kept.
    private func kept(_ limit: Int, of deaths: [Int64?]) -> [Int] {
        var oldest = OldestLetters<Int>(limit: limit)
        for (position, death) in deaths.enumerated() { oldest.offer(position, diedAt: death) }
        #expect(oldest.offered == deaths.count)
        return oldest.letters
    }

    @Test(
        "The oldest are kept, oldest first, whatever the order of the queue",
        arguments: [
            (3, [10, 20, 30, 40], [0, 1, 2]), (3, [40, 10, 20, 30], [1, 2, 3]), (3, [30, 40, 10, 20], [2, 3, 0]),
            (9, [30, 10, 20], [1, 2, 0]), (1, [5, 4, 3, 2, 1], [4]), (2, [], []),
        ] as [(Int, [Int64], [Int])])
    func order(limit: Int, deaths: [Int64], expected: [Int]) {
        #expect(kept(limit, of: deaths) == expected)
    }

    @Test("Letters of one moment stay in the order of the queue")
    func sameMoment() {
        #expect(kept(3, of: [7, 7, 7, 7]) == [0, 1, 2])
        #expect(kept(2, of: [8, 7, 7, 7]) == [1, 2])
    }

    @Test("A letter that nobody dated stays behind the one before it")
    func withoutDate() {
        #expect(kept(9, of: [20, nil, 10, nil]) == [2, 3, 0, 1])
        #expect(kept(2, of: [nil, nil, 10]) == [0, 1])
    }

    @Test("A letter that is not kept is not written")
    func laziness() {
        var oldest = OldestLetters<Int>(limit: 1)
        var written = 0
        func write() -> Int {
            written += 1
            return written
        }
        for death in [1, 2, 3] as [Int64] { oldest.offer(write(), diedAt: death) }
        #expect(written == 1 && oldest.letters == [1])
    }
}
