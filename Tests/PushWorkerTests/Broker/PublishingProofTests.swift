import EventLoop
import Testing

@testable import PushWorker

@Suite("Trouble of one route, or of a whole lane", .timeLimit(.minutes(1)))
struct PublishingProofTests {
    private func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test("A confirm counts for its route only while others are refused, and until its own are")
    func sound() {
        var proof = PublishingProof()
        proof.confirmed(1, isStalled: false, now: time(1))
        #expect(!proof.isSound(1) && proof.confirmedAt == time(1) && proof.troubledSince == nil)
        proof.refused(0, now: time(2))
        proof.refused(0, now: time(3))
        #expect(proof.troubledSince == time(2))
        proof.confirmed(0, isStalled: true, now: time(4))
        proof.confirmed(1, isStalled: false, now: time(4))
        #expect(!proof.isSound(0) && proof.isSound(1))
        proof.refused(1, now: time(5))
        #expect(!proof.isSound(1))
    }

    @Test("Trouble begins when it is noted first, and what was proved ends with it")
    func ends() {
        var proof = PublishingProof()
        proof.passTime(isTroubleFree: false, now: time(1))
        proof.passTime(isTroubleFree: false, now: time(2))
        #expect(proof.troubledSince == time(1))
        proof.confirmed(3, isStalled: false, now: time(2))
        #expect(proof.isSound(3))
        proof.passTime(isTroubleFree: true, now: time(3))
        #expect(proof.troubledSince == nil && !proof.isSound(3) && proof.confirmedAt == time(2))
    }
}
