/// The text of a help topic, laid out for a terminal of 80 columns.
struct HelpText {
    /// The most columns of a line. The argument parser breaks lines of 80 or more again, and forgets how far they were
    /// indented.
    static let width = 79

    /// The text so far.
    private(set) var text = ""

    /// Begins with a paragraph.
    ///
    /// - Parameter introduction: The paragraph, without line breaks.
    init(_ introduction: String) {
        text = Self.wrapped(introduction, indent: 0, first: 0)
    }

    /// Adds a section.
    ///
    /// - Parameters:
    ///   - title: Its title.
    ///   - paragraph: A paragraph before the entries, without line breaks; empty for none.
    ///   - entries: The things that the section explains.
    ///   - verbatim: Lines that stand at its end as they are.
    mutating func add(
        _ title: String, _ paragraph: String = "", entries: [HelpEntry] = [], verbatim: String = ""
    ) {
        text += "\n\n" + title.uppercased() + ":"
        if !paragraph.isEmpty { text += "\n" + Self.wrapped(paragraph, indent: 2, first: 2) }
        // An empty line between the paragraph and the first entry.
        if !paragraph.isEmpty && !(entries.isEmpty && verbatim.isEmpty) { text += "\n" }
        for entry in entries {
            let head = entry.values.isEmpty ? entry.name : entry.name + ": " + entry.values
            text += "\n" + Self.wrapped(head, indent: 6, first: 2)
            if !entry.meaning.isEmpty { text += "\n" + Self.wrapped(entry.meaning, indent: 6, first: 6) }
        }
        guard !verbatim.isEmpty else { return }
        for line in verbatim.split(separator: "\n", omittingEmptySubsequences: false) {
            text += line.isEmpty ? "\n" : "\n  " + line
        }
    }

    /// Breaks text between words.
    ///
    /// - Parameters:
    ///   - text: What to break; a word that is longer than a line gets a line of its own.
    ///   - indent: How many spaces each line but the first begins with.
    ///   - first: How many the first begins with.
    private static func wrapped(_ text: String, indent: Int, first: Int) -> String {
        var lines: [String] = []
        var line = String(repeating: " ", count: first)
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty && line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += isEmpty ? String(word) : " " + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
