import Glibc

/// A line of progress that is redrawn in place, on a terminal only.
struct ProgressLine {
    private let enabled: Bool
    private var drawn = false
    private var last: ContinuousClock.Instant?

    /// Makes a line.
    ///
    /// - Parameter enabled: Whether it may be drawn at all.
    init(enabled: Bool) {
        self.enabled = enabled && Console.isTerminal(STDERR_FILENO)
    }

    /// Whether enough time has passed to draw again: ten times a second is as often as eyes can follow.
    var isDue: Bool {
        enabled && last.map { $0.duration(to: .now) >= .milliseconds(100) } ?? true
    }

    /// Draws the line if it is due.
    ///
    /// - Parameter text: What it shows.
    mutating func show(_ text: String) {
        guard enabled, isDue else { return }
        Console.redraw(text)
        drawn = true
        last = .now
    }

    /// Prints a text that stays, above the line.
    ///
    /// - Parameter text: What to say.
    mutating func interrupt(_ text: String) {
        clear()
        Console.talk(text)
    }

    /// Removes the line.
    mutating func clear() {
        if drawn { Console.redraw("") }
        drawn = false
    }
}
