import EventLoop
import Testing

@testable import PushWorker

@Suite("When the stream of commands was read", .timeLimit(.minutes(1)))
struct ControlReadingTests {
    private func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    private let pause = ControlCommand(
        id: "1", action: .pause, target: .route("app"), author: "anna", issuedAt: 0)

    private func isComplete(_ reading: inout ControlReading, at milliseconds: Int) -> Bool {
        reading.tick(now: time(milliseconds))
        return reading.isComplete
    }

    @Test("An empty stream was read after two seconds, or at once by its count; one with messages once it is quiet")
    func quiet() {
        var empty = ControlReading(now: time(0))
        #expect(!isComplete(&empty, at: 1_999))
        #expect(isComplete(&empty, at: 2_000))
        var counted = ControlReading(now: time(0), isCountedEmpty: true)
        #expect(!isComplete(&counted, at: 199))
        #expect(isComplete(&counted, at: 200))
        var late = ControlReading(now: time(0), isCountedEmpty: true)
        late.heard(pause, now: time(100), wall: 0)
        #expect(!isComplete(&late, at: 1_099) && isComplete(&late, at: 1_100), "the count was old")
        var reading = ControlReading(now: time(0))
        reading.heard(pause, now: time(1_900), wall: 0)
        #expect(!isComplete(&reading, at: 2_800))
        reading.heard(nil, now: time(2_800), wall: 0)
        #expect(!isComplete(&reading, at: 3_799))
        #expect(isComplete(&reading, at: 3_800))
        #expect(reading.state.pause(ofRoute: "app", at: 0) == pause && reading.ignored == 1)
        #expect(reading.takeFresh() == [], "what stood in the stream is not news")
    }

    @Test("A flood does not keep the commands from being followed")
    func flood() {
        var reading = ControlReading(now: time(0))
        reading.heard(pause, now: time(0), wall: 0)
        for step in 0..<50 {
            #expect(!isComplete(&reading, at: step * 100))
            reading.heard(nil, now: time(step * 100), wall: 0)
        }
        #expect(isComplete(&reading, at: 5_000))
        #expect(reading.ignored == 50)
    }

    @Test(
        "A worker that knows commands waits longer for what will replace them, whatever the broker counts",
        arguments: [false, true])
    func again(isCountedEmpty: Bool) {
        var reading = ControlReading(
            now: time(0), isCountedEmpty: isCountedEmpty, patience: ControlReading.laterPatience)
        #expect(!isComplete(&reading, at: 9_999))
        reading.heard(pause, now: time(9_999), wall: 0)
        #expect(!isComplete(&reading, at: 12_998))
        reading.heard(pause, now: time(12_998), wall: 0)
        #expect(!isComplete(&reading, at: 15_997) && isComplete(&reading, at: 15_998))
        var empty = ControlReading(
            now: time(0), isCountedEmpty: isCountedEmpty, patience: ControlReading.laterPatience)
        #expect(isComplete(&empty, at: 10_000))
    }

    @Test("Commands that come later count at once, and are news once")
    func later() {
        var reading = ControlReading(now: time(0))
        #expect(isComplete(&reading, at: 2_000))
        reading.heard(pause, now: time(3_000), wall: 0)
        #expect(isComplete(&reading, at: 3_000))
        #expect(reading.takeFresh() == [pause])
        #expect(reading.takeFresh() == [])
    }

    private let cancel = ControlCommand(
        id: "2", action: .cancel, target: .campaign("c/"), author: "anna", issuedAt: 0)
    private let resume = ControlCommand(
        id: "3", action: .resume, target: .campaign("c/"), author: "anna", issuedAt: 0)

    /// The fate of a job of the campaign.
    private func fate(_ reading: ControlReading) -> CampaignIndex.Fate {
        reading.state.campaigns(at: 0).fate(of: "c/1".utf8Span.span, at: 0)
    }

    @Test("The stream was read once the message was read that was the last one at first, however long that takes")
    func lastOffset() {
        var reading = ControlReading(now: time(0), lastOffset: 45_000)
        reading.heard(cancel, offset: 0, now: time(0), wall: 0)
        for step in 1..<50 { reading.heard(nil, offset: Int64(step * 900), now: time(step * 100), wall: 0) }
        #expect(!isComplete(&reading, at: 4_999) && !reading.isUsable)
        #expect(!isComplete(&reading, at: 5_000) && reading.isUsable, "the lanes begin with what is known")
        #expect(fate(reading) == .undecided, "a command that is not read yet may take it back")
        reading.heard(resume, offset: 45_000, now: time(60_000), wall: 0)
        #expect(isComplete(&reading, at: 60_000) && fate(reading) == .goesOn && reading.takeFresh() == [])
        reading.heard(cancel, offset: 45_001, now: time(60_001), wall: 0)
        #expect(reading.takeFresh() == [cancel])
        if case .cancelled = fate(reading) {} else { Issue.record("all commands are known now") }
    }

    @Test("A silence in the midst of the stream is not its end")
    func silence() {
        var reading = ControlReading(now: time(0), lastOffset: 9)
        reading.heard(cancel, offset: 0, now: time(0), wall: 0)
        #expect(!isComplete(&reading, at: 4_000) && reading.isUsable && !reading.state.isWhole)
    }

    @Test("A worker that knows commands follows them until all others are read")
    func keeps() {
        var reading = ControlReading(
            now: time(0), lastOffset: 9, patience: ControlReading.laterPatience, beginsEarly: false)
        reading.heard(cancel, offset: 0, now: time(0), wall: 0)
        #expect(!isComplete(&reading, at: 600_000) && !reading.isUsable)
    }

    @Test("A message of a stream that seemed empty puts the reading in doubt; one of another queue has no offset")
    func doubt() {
        var reading = ControlReading(now: time(0))
        reading.heard(cancel, now: time(0), wall: 0)
        #expect(!reading.isInDoubt)
        reading.heard(cancel, offset: 0, now: time(0), wall: 0)
        #expect(reading.isInDoubt)
    }
}
