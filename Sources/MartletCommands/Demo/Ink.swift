/// Colours of the terminal.
enum Ink: String {
    case red = "31"
    case green = "32"
    case bold = "1"

    /// A text in this colour.
    func callAsFunction(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

    /// Colours single words of a line.
    /// - Parameters:
    ///   - line: The line; it has no colours yet.
    ///   - words: The words and their colours.
    static func paint(_ line: String, words: [String: Ink]) -> String {
        line.split(separator: " ", omittingEmptySubsequences: false).map { word in
            words[String(word)]?(String(word)) ?? String(word)
        }.joined(separator: " ")
    }
}
