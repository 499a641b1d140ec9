import Glibc

/// Shows how the demo goes, on standard error: lines drawn over themselves on a terminal, else a line every few seconds.
struct DemoView {
    /// How often a line is written where nothing can be redrawn.
    static let plainInterval = Duration.seconds(3)

    private let isTerminal: Bool
    private let colour: Bool
    private var drawn = 0
    private var lastPlain: ContinuousClock.Instant?

    /// Looks at where standard error goes, and at `NO_COLOR` (<https://no-color.org>).
    init() {
        isTerminal = Console.isTerminal(STDERR_FILENO)
        colour = isTerminal && Self.allowsColour
    }

    /// Whether the environment has nothing against colours.
    static var allowsColour: Bool { getenv("NO_COLOR").map { $0.pointee == 0 } ?? true }

    /// Shows the present state.
    mutating func show(_ status: DemoStatus, now: ContinuousClock.Instant = .now) {
        guard isTerminal else {
            guard lastPlain.map({ $0.duration(to: now) >= Self.plainInterval }) ?? true else { return }
            lastPlain = now
            return Console.talk("  \(status.plainLine)")
        }
        let lines = status.lines(width: Self.terminalWidth, colour: colour)
        // Written in one piece, so that nothing flickers.
        Console.draw(up + lines.map { "\r\u{1b}[K\($0)\n" }.joined())
        drawn = lines.count
    }

    /// Says something that stays; the live lines go on below it.
    mutating func say(_ text: String) {
        if drawn > 0 { Console.draw("\(up)\r\u{1b}[J") }
        Console.talk(text)
        drawn = 0
    }

    /// Leaves the live lines as they are.
    mutating func finish() { drawn = 0 }

    private var up: String { drawn > 0 ? "\u{1b}[\(drawn)A" : "" }

    private static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
