import ArgumentParser
import Glibc
import Synchronization

/// How data are printed.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    /// For people.
    case text
    /// For programs: one JSON object per line.
    case json
}

/// The option that every command with data has.
struct OutputOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "How to print data: text, or json with one object per line.")
    var output: OutputFormat = .text
}

/// The two streams: data go to standard output, talk goes to standard error, so that a pipe carries data alone.
enum Console {
    /// Data waiting to be written; gathered, because one system call per line would be most of a listing's cost.
    private static let waiting = Mutex<[UInt8]>([])

    /// Prints one line of data.
    /// - Parameter line: The line without its end.
    static func data(_ line: String) {
        data(Array(line.utf8))
    }

    /// Prints one line of data.
    /// - Parameter line: The bytes without a line end.
    static func data(_ line: [UInt8]) {
        let full = waiting.withLock { bytes in
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
            return bytes.count >= 1 << 16
        }
        if full || isTerminal(STDOUT_FILENO) { flush() }
    }

    /// Writes out what is waiting; needed before data may be lost or seen.
    static func flush() {
        waiting.withLock { bytes in
            write(bytes, to: STDOUT_FILENO)
            bytes.removeAll(keepingCapacity: true)
        }
    }

    /// Says something to the person at the terminal.
    /// - Parameter line: The line without its end.
    static func talk(_ line: String) {
        write(Array("\(line)\n".utf8), to: STDERR_FILENO)
    }

    /// Replaces the last line of the terminal; for progress only.
    /// - Parameter line: The new line.
    static func redraw(_ line: String) {
        write(Array("\r\u{1b}[K\(line)".utf8), to: STDERR_FILENO)
    }

    /// Whether a descriptor is a terminal that can redraw lines.
    /// - Parameter descriptor: Usually 1 or 2.
    /// - Returns: `false` for files, pipes and `TERM=dumb`.
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// Asks a yes-or-no question on the terminal.
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

    /// Writes all bytes; a reader that went away ends the process through SIGPIPE, as with any other tool.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count < 0 && errno != EINTR { return }
            done += max(count, 0)
        }
    }
}
