import EventLoop
import TestSupport
import Testing
import Text

@testable import PushWorker

@Suite("Letters whose results are refused", .timeLimit(.minutes(1)))
struct RefusedLettersTests {
    private let one = Array("development.com.example.one".utf8)
    private let other = Array("development.com.example.other".utf8)
    private var random = SplitMix64(seed: 1)

    /// Later than the longest wait after a time.
    private func later(_ now: MonotonicTime) -> MonotonicTime { now + .seconds(300) }

    @Test("A refused app waits with all its letters, and other apps go on")
    mutating func othersGoOn() {
        var letters = RefusedLetters()
        letters.refused(one, 1, now: 0, random: &random)
        #expect(!letters.mayTry(one, now: 0) && letters.mayTry(other, now: 0))
        #expect(letters.isRefused(one) && !letters.isRefused(other))
        letters.putAside(2, of: one)
        #expect(letters.count == 2 && letters.takeDue(now: 0) == [])
    }

    @Test("One letter of a refused app is tried at a time; once it is taken all the others come")
    mutating func retries() {
        var letters = RefusedLetters()
        letters.refused(one, 1, now: 0, random: &random)
        letters.putAside(2, of: one)
        letters.putAside(3, of: one)
        let due = later(0)
        #expect(letters.takeDue(now: due) == [1] && letters.mayTry(one, now: due))
        // It came again under another tag, and was refused again.
        letters.refused(one, 4, now: due, random: &random)
        #expect(!letters.mayTry(one, now: due) && letters.takeDue(now: due) == [])
        #expect(letters.takeDue(now: later(due)) == [4], "the oldest first")
        #expect(letters.delivered(one) == [2, 3] && letters.isEmpty && letters.delivered(one) == [])
    }

    @Test("The waits of an app that stays refused grow to minutes, so that few copies of its results are made")
    mutating func waits() {
        var letters = RefusedLetters()
        var (now, tries): (MonotonicTime, Int) = (0, 0)
        let end = now + .seconds(3_600)
        while now < end {
            if letters.mayTry(one, now: now) {
                letters.refused(one, nil, now: now, random: &random)
                tries += 1
            }
            now = now + .seconds(1)
        }
        #expect((15...60).contains(tries), "\(tries) in an hour")
    }

    @Test("A lost connection takes the letters, and not what is known of apps")
    mutating func connectionLost() {
        var letters = RefusedLetters()
        letters.refused(one, 1, now: 0, random: &random)
        letters.refused(other, nil, now: 0, random: &random)
        letters.connectionLost()
        #expect(letters.count == 0 && !letters.mayTry(one, now: 0) && !letters.mayTry(other, now: 0))
        #expect(letters.takeDue(now: later(0)) == [])
    }

    @Test("However many apps are refused, few are told apart")
    mutating func manyApps() {
        var letters = RefusedLetters()
        for number in 0..<(RefusedLetters.mostApps + 50) {
            letters.refused(Array("\(number)".utf8), UInt64(number), now: 0, random: &random)
        }
        #expect(letters.count == RefusedLetters.mostApps + 50)
        #expect(letters.takeDue(now: later(0)).count == RefusedLetters.mostApps + 1)
        #expect(!letters.mayTry(Array("another".utf8), now: 0), "it counts as one of the others")
    }
}
