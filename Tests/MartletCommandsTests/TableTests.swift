import Foundation
import TestSupport
import Testing

@Suite("The tables of the pages", .timeLimit(.minutes(1)))
struct TableTests {
    /// A table: its page, the nearest heading above it, and the first cell of its head.
    private struct Place: Hashable, Comparable, CustomStringConvertible {
        let page: String
        let heading: String
        let head: String

        init(_ page: String, _ heading: String, _ head: String) {
            (self.page, self.heading, self.head) = (page, heading, head)
        }

        var description: String { "\(page), \(heading): \(head)" }

        static func < (one: Place, other: Place) -> Bool { one.description < other.description }
    }

    /// Tables that another test reads without their names.
    private static let read = [
        // `AnswerTableTests` compares the whole page.
        Place("Answers", "The table", "status"),
        // `RenderedFileTests` renders it.
        Place("Configuration", "Every key", "key"),
        // `SecurityPageTests` looks for each limit and each test.
        Place("SECURITY.md", "Producers", "attack"), Place("SECURITY.md", "A broker", "attack"),
        Place("SECURITY.md", "Those who have a worker's login", "attack"),
        Place("SECURITY.md", "APNs, or somebody in its place", "attack"),
        Place("SECURITY.md", "An HTTP proxy", "attack"), Place("SECURITY.md", "Users of the admin server", "attack"),
        Place("SECURITY.md", "Readers of logs", "attack"),
    ]

    /// Tables that no code could contradict.
    private static let free = [
        // Explanations and advice.
        Place("Design", "Words", "word"), Place("Operating", "Change the topology", "change"),
        Place("Operating", "The whole fleet", "part"), Place("SECURITY.md", "What is at stake", "asset"),
        Place("SECURITY.md", "Whom we trust, and with what", "who"),
        Place("config/examples/README.md", "The two programs", "program"),
        // What RabbitMQ answers, and libraries of others.
        Place("Producers", "Confirms", "the broker says"), Place("Simulator", "Trust ca.pem", "language"),
        // What was tried and measured.
        Place("Operating", "Install", "what"), Place("Operating", "Install", "RabbitMQ"),
        Place("Performance", "Figures", ""),
        Place("Performance", "Figures", "what"), Place("Performance", "Several results in a message", ""),
        Place("Performance", "Aims, and by how much they are missed", "aim"),
        Place("Performance", "Where the time goes", "code"), Place("Performance", "Where the time goes", "change"),
        Place("Performance", "Many routes", ""),
    ]

    /// The files of tests, but for this one.
    private static func tests() throws -> [String] {
        let place = URL(filePath: "\(PythonEnvironment.repository)/Tests")
        let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "swift" && $0.lastPathComponent != "TableTests.swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    /// The tables of all pages that no test names.
    private static func unnamed() throws -> Set<Place> {
        let tests = try tests()
        var places: Set<Place> = []
        for page in try Page.all() {
            let isDocumentation = page.path.contains("Documentation.docc/")
            let name = isDocumentation ? String((page.path.split(separator: "/").last ?? "").dropLast(3)) : page.path
            let readers = tests.filter { $0.contains("\"\(name)\"") }
            for table in page.tables {
                // The page's own title is a section only where there is no other.
                let headings = table.headings.count > 1 ? Array(table.headings.dropLast()) : table.headings
                let isNamed = readers.contains { test in
                    test.contains("\"\(table.head)\", in:") && headings.contains { test.contains("\"\($0)\"") }
                }
                // `HelpTopicTests` compares the names in the first columns of whole sections.
                let isHelp = HelpTopicTests.topics.contains { topic in
                    topic.page == name && headings.contains { topic.sections.contains($0) }
                }
                if !isNamed, !isHelp { places.insert(Place(name, table.headings.first ?? "", table.head)) }
            }
        }
        return places
    }

    @Test("Each table is named by a test that compares it, or stands here with the reason why none does")
    func held() throws {
        let (unnamed, listed) = (try Self.unnamed(), Set(Self.read + Self.free))
        #expect(unnamed.subtracting(listed).sorted() == [], "name it in a test that compares it with the code")
        #expect(listed.subtracting(unnamed).sorted() == [], "it is gone, or a test names it")
    }

    @Test("The tables of a page are found with the headings above them")
    func tables() {
        let text =
            "# A\n## B\n| a | b |\n|---|---|\n| 1 | 2 |\n\n### C\ntext\n  | c |\n" + "## D\n```\n| x |\n```\n| | d |\n"
        let tables = Page("x.md", text: text).tables
        #expect(tables.map(\.head) == ["a", "c", ""])
        #expect(tables.map(\.headings) == [["B", "A"], ["C", "B", "A"], ["D", "A"]])
    }
}
