import Glibc

/// Draws a status over the previous one, on standard output.
struct StatusScreen {
    private var isDrawn = false

    /// The columns of the terminal; 80 where the terminal does not say.
    static var width: Int { Console.size(STDOUT_FILENO)?.columns ?? StatusText.usualWidth }

    /// Draws lines, as many as the terminal has rows for.
    ///
    /// - Parameter lines: The lines, with their colours.
    mutating func draw(_ lines: [String]) {
        let rows = Console.size(STDOUT_FILENO)?.rows ?? 24
        Console.data(Array(Self.frame(lines, rows: rows, isFirst: !isDrawn).utf8))
        isDrawn = true
    }

    /// The text to write. It is one piece, so that the terminal does not flicker.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - rows: How many rows the terminal has; the last one is for the cursor.
    ///   - isFirst: Whether this is the first drawing, which must clear the terminal.
    static func frame(_ lines: [String], rows: Int, isFirst: Bool) -> String {
        var shown = lines
        if lines.count > rows - 1 {
            shown = lines.prefix(max(1, rows - 2)) + ["… \(lines.count - max(1, rows - 2)) more lines"]
        }
        let home = isFirst ? "\u{1b}[2J\u{1b}[H" : "\u{1b}[H"
        return home + shown.map { "\($0)\u{1b}[K" }.joined(separator: "\n") + "\u{1b}[J"
    }
}
