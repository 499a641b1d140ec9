import Glibc
import Synchronization

/// The two output streams. Data go to standard output, messages to people to standard error. So a pipe has only data.
enum Console {
    /// The state of standard output.
    private struct Output {
        /// Data not written yet. They are collected: one system call per line would be most of a listing's cost.
        var waiting: [UInt8] = []
        /// The system's error number of the first write that failed; nil before. From then on data are dropped.
        var fault: Int32?
    }

    private static let output = Mutex(Output())

    /// Prints one line of data for people. Control characters are made visible, because they may come from strangers.
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

    /// Whether the environment allows colours: `NO_COLOR` is not set, or empty (<https://no-color.org>).
    static var allowsColour: Bool { getenv("NO_COLOR").map { $0.pointee == 0 } ?? true }

    /// The size of a terminal; nil where the descriptor is not a terminal, or the terminal does not say.
    ///
    /// - Parameter descriptor: Usually 1 or 2.
    static func size(_ descriptor: Int32) -> (columns: Int, rows: Int)? {
        // `struct winsize` of ioctl_tty(2): rows, columns, and two more numbers. Which Swift module has the struct itself
        // depends on the version of glibc.
        var size: InlineArray<4, UInt16> = [0, 0, 0, 0]
        guard isTerminal(descriptor), ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        let (rows, columns) = (Int(size[0]), Int(size[1]))
        return columns > 0 && rows > 0 ? (columns, rows) : nil
    }

    /// Prints one line of data as it is: for programs, and for text with escape sequences of this program's own.
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

    /// Writes the collected data. Call it before data could be lost, and when a reader should see them.
    ///
    /// - Throws: ``failure``, also where an earlier write failed.
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

    /// Prints a message to people on standard error. Control characters are made visible.
    ///
    /// - Parameter line: One line or several, without the end of the last line.
    static func talk(_ line: String) {
        let lines = line.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
        write(Array("\(lines.joined(separator: "\n"))\n".utf8), to: STDERR_FILENO)
    }

    /// Replaces the last line of the terminal; for progress only.
    ///
    /// - Parameter line: The new line.
    static func redraw(_ line: String) { draw("\r\u{1b}[K\(line)") }

    /// Writes a text to standard error as it is, for a terminal there.
    ///
    /// - Parameter text: Text of this program's own, with its escape sequences.
    static func draw(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// Whether a descriptor is a terminal that can redraw lines.
    ///
    /// - Parameter descriptor: Usually 1 or 2.
    /// - Returns: `false` for files, pipes and `TERM=dumb`.
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// Asks a yes-or-no question on the terminal, and returns if the answer is yes.
    ///
    /// - Parameter question: What will happen.
    /// - Throws: `usage` where standard input is not a terminal, `gaveUp` for any other answer.
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

    /// Writes all bytes. If the reader went away, SIGPIPE ends the process, as with any other tool, unless the command
    /// ignores that signal.
    ///
    /// - Returns: The system's error number where writing failed, else nil.
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
