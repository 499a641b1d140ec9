import Glibc
import Synchronization

/// The two streams: data go to standard output, talk goes to standard error, so that a pipe carries data alone.
enum Console {
    /// What is known about standard output.
    private struct Output {
        /// Data to be written; gathered, because one system call per line would be most of a listing's cost.
        var waiting: [UInt8] = []
        /// The system's number for why the first write failed that did; from then on data are dropped.
        var fault: Int32?
    }

    private static let output = Mutex(Output())

    /// Prints one line of data for people; control characters, which may come from strangers, are made visible.
    ///
    /// - Parameter line: The line without its end.
    static func data(_ line: String) {
        data(Array(line.printable.utf8))
    }

    /// Prints one line of data for people; on a terminal, some of its words in colour.
    ///
    /// - Parameters:
    ///   - line: The line without its end.
    ///   - words: The words and their colours; the first of them in the line is coloured.
    static func data(_ line: String, words: [String: Ink]) {
        guard isTerminal(STDOUT_FILENO), allowsColour else { return data(line) }
        data(Array(Ink.paintFirst(line.printable, words: words).utf8))
    }

    /// Whether the environment has nothing against colours (`NO_COLOR`, <https://no-color.org>).
    static var allowsColour: Bool { getenv("NO_COLOR").map { $0.pointee == 0 } ?? true }

    /// How large a terminal is; nil for what is not one, or does not tell.
    ///
    /// - Parameter descriptor: Usually 1 or 2.
    static func size(_ descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard isTerminal(descriptor), ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Prints one line of data as it is: for programs, and for what this program draws itself.
    ///
    /// - Parameter line: The bytes without a line end.
    static func data(_ line: [UInt8]) {
        let full = output.withLock { output in
            guard output.fault == nil else { return false }
            output.waiting += line
            output.waiting.append(UInt8(ascii: "\n"))
            return output.waiting.count >= 1 << 16
        }
        if full || isTerminal(STDOUT_FILENO) { writeOut() }
    }

    /// Writes out what is waiting; needed before data may be lost or seen.
    ///
    /// - Throws: ``failure``, also one of an earlier write.
    static func flush() throws(CommandFailure) {
        writeOut()
        if let failure { throw failure }
    }

    /// Why standard output takes no data any more; nil while it does.
    static var failure: CommandFailure? {
        guard let fault = output.withLock({ $0.fault }) else { return nil }
        return CommandFailure(
            fault == EPIPE ? .readerGone : .outputFailed,
            "cannot write to standard output: \(String(cString: strerror(fault))); the data there are incomplete",
            remedy: "Make room there, or send the output elsewhere.")
    }

    private static func writeOut() {
        output.withLock { output in
            if output.fault == nil { output.fault = write(output.waiting, to: STDOUT_FILENO) }
            output.waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Says something to the person at the terminal; control characters are made visible.
    ///
    /// - Parameter line: One line or several, without the last one's end.
    static func talk(_ line: String) {
        let lines = line.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
        write(Array("\(lines.joined(separator: "\n"))\n".utf8), to: STDERR_FILENO)
    }

    /// Replaces the last line of the terminal; for progress only.
    ///
    /// - Parameter line: The new line.
    static func redraw(_ line: String) { draw("\r\u{1b}[K\(line)") }

    /// Writes to the terminal with standard error as it is.
    ///
    /// - Parameter text: Text of this program's own, with what moves and colours it.
    static func draw(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// Whether a descriptor is a terminal that can redraw lines.
    ///
    /// - Parameter descriptor: Usually 1 or 2.
    /// - Returns: `false` for files, pipes and `TERM=dumb`.
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// Asks a yes-or-no question on the terminal.
    ///
    /// - Parameter question: What will happen.
    /// - Returns: Whether the answer was yes.
    /// - Throws: `CommandFailure` where nobody can be asked.
    static func confirm(_ question: String) throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "\(question) Nobody can be asked here.", remedy: "Add --yes to go ahead.")
        }
        write(Array("\(question) [y/N] ".utf8), to: STDERR_FILENO)
        let answer = readLine() ?? ""
        guard answer.lowercased() == "y" || answer.lowercased() == "yes" else {
            throw CommandFailure(.gaveUp, "Nothing was changed.")
        }
    }

    /// Writes all bytes; a reader that went away ends the process through SIGPIPE, as with any other tool, unless the
    /// command ignores that signal.
    ///
    /// - Returns: The system's number for why it failed, or nil.
    @discardableResult
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count < 0 && errno != EINTR { return errno }
            done += max(count, 0)
        }
        return nil
    }
}
