import Foundation

/// A page in Markdown, as tests hold it to the code: its sections, tables, anchors and links.
///
/// Blocks of code count for none of them.
package struct Page: Sendable {
    /// Where it is, from the top of the repository.
    package let path: String
    private let lines: [Substring]

    /// Reads a page.
    ///
    /// - Parameter path: Where it is, from the top of the repository.
    /// - Throws: An error of the file system.
    package init(_ path: String) throws {
        self.init(path, text: try String(contentsOfFile: "\(PythonEnvironment.repository)/\(path)", encoding: .utf8))
    }

    /// Reads a page of the documentation.
    ///
    /// - Parameter name: Its name, such as `Operating`.
    /// - Throws: An error of the file system.
    package init(documentation name: String) throws { try self.init("\(Self.documentation)/\(name).md") }

    /// Takes a text for a page.
    ///
    /// - Parameters:
    ///   - path: Where it is, from the top of the repository.
    ///   - text: The text.
    package init(_ path: String, text: String) {
        self.path = path
        var isCode = false
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            if isFence { isCode.toggle() }
            return !isCode && !isFence
        }
    }

    /// The directory of the documentation, from the top of the repository.
    private static let documentation = "Sources/martlet/Documentation.docc"

    /// Every page of the documentation, the README, SECURITY.md and the page of the examples.
    ///
    /// - Throws: An error of the file system.
    package static func all() throws -> [Page] {
        let directory = "\(PythonEnvironment.repository)/\(documentation)"
        let pages = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".md") }
        let paths = pages.sorted().map { "\(documentation)/\($0)" }
        return try (paths + ["README.md", "SECURITY.md", "config/examples/README.md"]).map { try Page($0) }
    }

    /// The rows of a section's table, without its head.
    ///
    /// - Parameters:
    ///   - head: The first cell of the table's head.
    ///   - section: The section's heading; subsections belong to it.
    /// - Returns: The cells of each row; empty where there is no such section or table.
    package func rows(_ head: String, in section: String) -> [[String]] {
        var rows: [[String]] = []
        var isInside = false
        for line in self.section(section) {
            guard let cells = Self.cells(of: line) else {
                isInside = false
                continue
            }
            if cells.first == head { isInside = true } else if isInside { rows.append(cells) }
        }
        // The line below the head.
        return rows.filter { !$0.allSatisfy { $0.allSatisfy { $0 == "-" } } }
    }

    /// What a table names in the first column, between back quotes.
    ///
    /// - Parameters:
    ///   - head: The first cell of the table's head.
    ///   - section: The section's heading.
    /// - Returns: The names in their order.
    package func names(_ head: String, in section: String) -> [String] {
        rows(head, in: section).flatMap { Self.quoted($0.first ?? "") }
    }

    /// The text of a section, subsections included.
    ///
    /// - Parameter section: The section's heading.
    /// - Returns: Its words with one space between them, wherever lines end; empty where there is no such section.
    package func text(of section: String) -> String {
        self.section(section).joined(separator: " ").split(separator: " ").joined(separator: " ")
    }

    /// A number as pages write it, with commas between thousands.
    ///
    /// - Parameter number: The number, not negative.
    package static func number(_ number: Int) -> String {
        let rest = number % 1_000
        guard number > rest else { return "\(number)" }
        return "\(Self.number(number / 1_000)),\(rest < 100 ? "0" : "")\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Its tables in their order: the first cell of each one's head, and the headings above it, the nearest first.
    package var tables: [(head: String, headings: [String])] {
        var tables: [(head: String, headings: [String])] = []
        var headings: [(level: Int, title: String)] = []
        var isInside = false
        for line in lines {
            if line.hasPrefix("#") {
                let level = line.prefix { $0 == "#" }.count
                headings.removeAll { $0.level >= level }
                headings.append((level, Self.title(line)))
            }
            let cells = Self.cells(of: line)
            if let head = cells?.first, !isInside { tables.append((head, headings.reversed().map(\.title))) }
            isInside = cells != nil
        }
        return tables
    }

    /// The cells of all its tables, heads included.
    package var cells: [String] { lines.compactMap { Self.cells(of: $0) }.flatMap(\.self) }

    /// The cells of a line of a table; nil for another line.
    private static func cells(of line: Substring) -> [String]? {
        let line = line.drop { $0 == " " }
        guard line.hasPrefix("|") else { return nil }
        return line.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast()
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// What stands between back quotes.
    ///
    /// - Parameter text: A line of Markdown.
    /// - Returns: The quoted texts in their order.
    package static func quoted(_ text: String) -> [String] {
        // What is quoted stands at every second place.
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    /// The lines below a heading, up to the next one that is not below it.
    private func section(_ heading: String) -> ArraySlice<Substring> {
        guard let start = lines.firstIndex(where: { $0.hasPrefix("#") && Self.title($0) == heading }) else { return [] }
        let level = lines[start].prefix { $0 == "#" }.count
        let rest = lines[(start + 1)...]
        return rest.prefix { !$0.hasPrefix("#") || $0.prefix { $0 == "#" }.count > level }
    }

    private static func title(_ heading: Substring) -> String {
        heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces)
    }

    /// The anchors of its headings, as GitHub makes them: in lower case, without punctuation, with `-` for spaces.
    package var anchors: Set<String> {
        Set(
            lines.filter { $0.hasPrefix("#") }.map { line in
                Self.title(line).lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .replacing(" ", with: "-")
            })
    }

    /// Where its links lead, as they are written.
    package var links: [String] {
        lines.joined(separator: "\n").matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) }
    }
}
