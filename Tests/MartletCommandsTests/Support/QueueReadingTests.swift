import EventLoop
import Testing

@testable import MartletCommands

@Suite("How far a queue is read", .timeLimit(.minutes(1)))
struct QueueReadingTests {
    private static let start = MonotonicTime.now()

    /// Reads letters of a script, one a minute.
    ///
    /// - Parameters:
    ///   - waiting: How many letters the queue says that it holds.
    ///   - letters: How many come.
    ///   - interruptedAt: The letter after which Ctrl-C is pressed; nil for none.
    ///   - taken: Gets the letters.
    private func read(
        _ waiting: Int, coming letters: Int, interruptedAt: Int? = nil, taken: inout [Int]
    ) throws -> QueueReading {
        var reading = QueueReading(queue: "q", waiting: waiting)
        var (next, minutes, list) = (0, 0, [Int]())
        try reading.run(
            until: Self.start.adding(QueueReading.longest),
            now: {
                defer { minutes += 1 }
                return Self.start.adding(.seconds(60 * minutes))
            },
            isInterrupted: { next == interruptedAt },
            next: { () throws(CommandFailure) -> Int? in
                guard next < letters else { return nil }
                next += 1
                return next
            },
            take: { (letter: Int) throws(CommandFailure) in list.append(letter) })
        taken = list
        return reading
    }

    @Test("All letters of the beginning are read, and none that came later", arguments: [0, 1, 5])
    func complete(waiting: Int) throws {
        var taken: [Int] = []
        let reading = try read(waiting, coming: waiting + 3, taken: &taken)
        #expect(reading.end == .complete && reading.seen == waiting && taken.count == waiting)
        #expect(reading.gap == nil && reading.failure("nothing is exported") == nil)
        #expect(throws: Never.self) { try reading.finish("this list lacks the newest") }
    }

    @Test("Letters that do not come are a failure, which says how many came and what to do")
    func silent() throws {
        var taken: [Int] = []
        let reading = try read(5, coming: 3, taken: &taken)
        #expect(reading.end == .silent && taken == [1, 2, 3])
        let failure = try #require(reading.failure("nothing is exported, and all letters stay"))
        #expect(failure.status == .gaveUp)
        let gap = "3 of 5 letters in q were read, and no more came for 10 s"
        #expect(failure.message == "\(gap): nothing is exported, and all letters stay")
        #expect(failure.remedy?.contains("Run it again") == true)
        #expect(throws: CommandFailure.self) { try reading.finish("the newest stay") }
    }

    @Test("A reading ends before the broker takes the letters back")
    func outOfTime() throws {
        var taken: [Int] = []
        let reading = try read(100, coming: 100, taken: &taken)
        #expect(reading.end == .outOfTime && taken.count == 25)
        let failure = try #require(reading.failure("go on with --name again"))
        #expect(failure.message.hasPrefix("25 of 100 letters in q were read in 25 minutes"))
        #expect(failure.message.hasSuffix(": go on with --name again"))
        #expect(failure.remedy?.contains("consumer_timeout") == true)
        // With a letter's turn at the lowest rate, and the wait for its confirm.
        #expect(QueueReading.longest + .seconds(100) + .seconds(30) < .seconds(30 * 60))
    }

    @Test("After Ctrl-C a reading is not complete, and the command gave up")
    func interrupted() throws {
        var taken: [Int] = []
        let reading = try read(5, coming: 5, interruptedAt: 2, taken: &taken)
        #expect(reading.end == .interrupted && taken == [1, 2])
        #expect(reading.failure("nothing is exported")?.message.hasPrefix("ended half way: 2 of 5 letters") == true)
        let failure = #expect(throws: CommandFailure.self) { try reading.finish("the newest stay") }
        #expect(failure?.status == .gaveUp)
        // The last letter was read already.
        #expect(try read(5, coming: 5, interruptedAt: 5, taken: &taken).end == .complete)
    }

    @Test("A failure keeps its remedy where advice is added")
    func advice() {
        let failure = CommandFailure(.unreachable, "lost", remedy: "Is it running?")
        #expect(failure.advising("go on").description == "lost\nIs it running?\ngo on")
        #expect(CommandFailure(.gaveUp, "late").advising("go on").description == "late\ngo on")
    }
}
