import EventLoop
import LocalStack
import Testing

@testable import martlet

@Suite("Reading input", .timeLimit(.minutes(1)))
struct InputTests {
    /// All lines of a file with this content.
    private func lines(_ content: [UInt8]) throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        let reader = try LineReader(path: try directory.write(content, to: "input"))
        var lines: [[UInt8]] = []
        while let line = try reader.next() { lines.append(line) }
        #expect(reader.lineNumber == lines.count)
        return lines
    }

    @Test(
        "Lines come without their ends, the last one with or without one",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb", ["a", "b"]), ("\n\na", ["", "", "a"]),
        ] as [(String, [String])])
    func ends(content: String, expected: [String]) throws {
        #expect(try lines(Array(content.utf8)).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test("Lines across many reads stay whole")
    func large() throws {
        let expected = (0..<3000).map { Array(repeating: UInt8(ascii: "a") + UInt8($0 % 26), count: $0 % 500) }
        #expect(try lines(Array(expected.joined(separator: [UInt8(ascii: "\n")]))) == expected)
    }

    @Test("A line beyond the limit is cut, and the line after it is whole", arguments: [300_000, 1_000_000])
    func tooLong(size: Int) throws {
        let found = try lines([UInt8](repeating: 0x61, count: size) + Array("\nnext\n".utf8))
        #expect(found.count == 2)
        #expect(found.first?.count == OutgoingJob.bodyLimit + 1)
        #expect(found.last == Array("next".utf8))
    }

    @Test("A file that is not there is missing input")
    func missing() {
        let failure = #expect(throws: CommandFailure.self) { try LineReader(path: "/nonexistent") }
        #expect(failure?.status == .missingInput)
    }

    @Test(
        "Moments are read in each of their forms",
        arguments: [
            ("2026-11-21T12:00:00Z", 1_795_262_400_000), ("1795262400", 1_795_262_400_000), ("0", 0), ("+10s", 11_000),
            ("+2h", 7_201_000),
        ] as [(String, Int64)])
    func moments(text: String, expected: Int64) {
        #expect(Moment(argument: text)?.milliseconds(now: 1000) == expected)
    }

    @Test("What is no moment is refused", arguments: ["", "soon", "+", "+5", "-1", "2026-11-21"])
    func noMoments(text: String) {
        #expect(Moment(argument: text) == nil)
    }

    @Test("Sends are spread evenly, and a pause is made up for a tenth of a second only")
    func pacer() {
        var pacer = Pacer(rate: 100)
        let start = MonotonicTime.now()
        let steady = (0..<3).map { _ in pacer.wait(now: start) }
        #expect(steady == [.zero, .milliseconds(10), .milliseconds(20)])
        let burst = (0..<20).map { _ in pacer.wait(now: start + .seconds(8)) }
        #expect(burst.filter { $0 == .zero }.count == 11)
        #expect(burst.last == .milliseconds(90))
    }
}
