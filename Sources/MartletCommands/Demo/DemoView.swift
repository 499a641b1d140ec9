import Glibc

/// Shows the demo's progress on standard error: lines that are redrawn on a terminal, else one line every
/// ``plainInterval``.
struct DemoView {
    /// How often a line is written where standard error is not a terminal.
    static let plainInterval = Duration.seconds(3)

    private let isTerminal: Bool
    private let colour: Bool
    private var drawn = 0
    private var lastPlain: ContinuousClock.Instant?

    /// Looks at where standard error goes, and whether colours are wanted.
    init() {
        isTerminal = Console.isTerminal(STDERR_FILENO)
        colour = isTerminal && Console.allowsColour
    }

    /// Shows the present state.
    mutating func show(_ status: DemoStatus, now: ContinuousClock.Instant = .now) {
        guard isTerminal else {
            guard lastPlain.map({ $0.duration(to: now) >= Self.plainInterval }) ?? true else { return }
            lastPlain = now
            return Console.talk("  \(status.plainLine)")
        }
        let lines = status.lines(width: Console.size(STDERR_FILENO)?.columns ?? 80, colour: colour)
        // Written in one piece, so that nothing flickers.
        Console.draw(up + lines.map { "\r\u{1b}[K\($0)\n" }.joined())
        drawn = lines.count
    }

    /// Prints a text that stays. The live lines go on below it.
    mutating func say(_ text: String) {
        if drawn > 0 { Console.draw("\(up)\r\u{1b}[J") }
        Console.talk(text)
        drawn = 0
    }

    /// Leaves the live lines as they are.
    mutating func finish() { drawn = 0 }

    private var up: String { drawn > 0 ? "\u{1b}[\(drawn)A" : "" }
}
