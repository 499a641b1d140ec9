/// Colours of the terminal.
enum Ink: String {
    case red = "31"
    case green = "32"
    case bold = "1"
    case yellow = "33"

    /// The colours of outcomes and of the verdicts of checks.
    static let verdicts: [String: Ink] = [
        "accepted": .green, "dead_token": .yellow, "rejected": .red, "expired": .yellow, "exhausted": .red,
        "unknown": .yellow, "invalid": .red, "cancelled": .yellow, "ok": .green, "warning": .yellow, "failed": .red,
    ]

    /// A text in this colour.
    func callAsFunction(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

    /// Colours the first of some words in a line.
    ///
    /// - Parameters:
    ///   - line: The line; it has no colours yet.
    ///   - words: The words and their colours.
    static func paintFirst(_ line: String, words: [String: Ink]) -> String {
        var parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard let position = parts.firstIndex(where: { words[$0] != nil }) else { return line }
        parts[position] = words[parts[position]]?(parts[position]) ?? parts[position]
        return parts.joined(separator: " ")
    }

    /// Colours single words of a line.
    ///
    /// - Parameters:
    ///   - line: The line; it has no colours yet.
    ///   - words: The words and their colours.
    static func paint(_ line: String, words: [String: Ink]) -> String {
        line.split(separator: " ", omittingEmptySubsequences: false).map { word in
            words[String(word)]?(String(word)) ?? String(word)
        }.joined(separator: " ")
    }
}
