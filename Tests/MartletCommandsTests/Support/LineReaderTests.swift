import LocalStack
import Testing

@testable import MartletCommands

@Suite("Reading input", .timeLimit(.minutes(1)))
struct LineReaderTests {
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

    @Test("A byte order mark is dropped before the first line and before the whole, and nowhere else")
    func marks() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = mark + Array("a\n".utf8) + mark
        #expect(try lines(content) == [Array("a".utf8), mark])
        #expect(try lines(mark + Array("\nb".utf8)) == [[], Array("b".utf8)])
        #expect(try lines(mark) == [[]])
        let directory = try TemporaryDirectory()
        let whole = try LineReader(path: try directory.write(content, to: "input")).everything(limit: 100)
        #expect(whole == Array("a\n".utf8) + mark)
        for bytes in [[0xFF, 0xFE, 0x61, 0, 0x0A, 0], [0, 0x61, 0, 0x0A]] as [[UInt8]] {
            let file = try directory.write(bytes, to: "wide")
            for isWhole in [false, true] {
                let reader = try LineReader(path: file)
                let failure = #expect(throws: CommandFailure.self) {
                    _ = try isWhole ? reader.everything(limit: 9) : reader.next()
                }
                #expect(failure?.status == .badInput)
                #expect(failure?.message == "\(file): it is written in UTF-16: save it in UTF-8")
            }
        }
    }

    @Test("A file that is not there is missing input")
    func missing() {
        let failure = #expect(throws: CommandFailure.self) { try LineReader(path: "/nonexistent") }
        #expect(failure?.status == .missingInput)
    }
}
