import Foundation
import TestSupport
import Testing

@Suite("Pages about files of the repository", .timeLimit(.minutes(1)))
struct FilePageTests {
    private static let repository = PythonEnvironment.repository

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(repository)/\(path)", encoding: .utf8)
    }

    private static func files(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(repository)/\(directory)").sorted()
    }

    @Test("Performance shows the instructions that count.json keeps")
    func instructions() throws {
        let rows = try Page(documentation: "Performance").rows("part", in: "Instructions")
        let kept = try JSONDecoder().decode(
            [String: [String: [String: Int]]].self, from: Data(Self.text("Tests/Benchmark/count.json").utf8))
        let worker = try #require(kept["release"])
        let kinds = try ["raw", "enveloped", "multicast"].map { try #require(worker[$0]) }
        #expect(Set(rows.map { $0[0] }) == Set(kinds.flatMap(\.keys)))
        for row in rows {
            let shown = row.dropFirst().map { Int($0.replacing(",", with: "")) }
            #expect(shown == kinds.map { $0[row[0]] ?? 0 }, "\(row[0])")
        }
    }

    @Test("Deploying lists the files for Kubernetes with the kinds of what they make, and no other")
    func kubernetes() throws {
        let rows = try Page(documentation: "Deploying").rows("file", in: "Kubernetes")
        let listed = rows.flatMap { Page.quoted($0[0]) }
        #expect(try listed.sorted() == Self.files("docker/kubernetes"))
        for (row, file) in zip(rows, listed) {
            let manifest = try Self.text("docker/kubernetes/\(file)")
            let kinds = Set(manifest.matches(of: /(?m)^kind: (\w+)/).map { String($0.output.1) })
            // Kinds are words with a capital letter and small ones; some stand in the plural.
            let words = row[1].matches(of: /\b[A-Z][a-z]\w*/).map { String($0.output) }
            #expect(Set(words.map { kinds.contains($0) ? $0 : String($0.dropLast()) }) == kinds, "\(file)")
        }
    }

    @Test("The examples have a directory for each language that their page lists, and for no other")
    func examples() throws {
        let rows = try Page("config/examples/README.md").rows("language", in: "Examples")
        let listed = rows.map { $0[0].prefix { $0 != " " }.lowercased() }
        #expect(try listed.sorted() == Self.files("config/examples").filter { !$0.hasSuffix(".md") })
        for (row, directory) in zip(rows, listed) {
            let files = try Self.files("config/examples/\(directory)")
            let named = Page.quoted(row[3]).flatMap { $0.split(separator: " ").filter { $0.contains(".") } }
            #expect(named.count == 2 && named.allSatisfy { files.contains(String($0)) }, "\(row[3])")
        }
    }

    /// What is wrong with a command of a page: a goal or a variable that the Makefile lacks, a script that is not
    /// there, an option that it does not have.
    private static func mistakes(_ command: String) throws -> [String] {
        var words = command.split(separator: " ").map { String($0).replacing("\"", with: "") }
        let program = words.removeFirst()
        let script: String
        if program == "make" {
            let makefile = try text("Makefile")
            let goal = words.removeFirst()
            let rest = makefile.components(separatedBy: "\n\(goal):").dropFirst().first ?? ""
            let target = rest.components(separatedBy: "\n\n")[0]
            script = String(target.firstMatch(of: /\n\t(Tests\/\w+\/\w+)/)?.output.1 ?? "")
            let variables = words.compactMap { word in
                word.contains("=") && !word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : nil
            }
            let unknown = variables.filter { !makefile.contains("\n\($0) ?=") || !target.contains("$(\($0))") }
            guard unknown.isEmpty else { return unknown }
        } else {
            script = program
        }
        let isThere = FileManager.default.isExecutableFile(atPath: "\(repository)/\(script)")
        guard !script.isEmpty, isThere else { return [program] }
        let code = try text(script)
        return words.compactMap { $0.firstMatch(of: /--[a-z-]+/).map { String($0.output) } }
            .filter { !code.contains("\"\($0)\"") }
    }

    @Test("The commands that Faults and Performance name for longer runs and for measuring are there")
    func commands() throws {
        let runs = try Page(documentation: "Faults").rows("command", in: "Longer runs")
        let measurements = try Page(documentation: "Performance").rows("command", in: "Measure it")
        let named = (runs + measurements).flatMap { Page.quoted($0[0]) }
        #expect(runs.count > 3 && measurements.count > 3)
        for command in named { #expect(try Self.mistakes(command) == [], "\(command)") }
        #expect(try Self.mistakes("make bench BENCH=\"--partz cost\"") == ["--partz"])
        #expect(try Self.mistakes("make upgrade LATER=x") == ["LATER"])
        #expect(try Self.mistakes("Tests/Benchmark/walk --long 1") == ["Tests/Benchmark/walk"])
        #expect(try Self.mistakes("make walk") == ["make"])
    }

    /// Where the links in a table's second column lead.
    private static func links(_ page: Page, _ section: String) -> [String] {
        page.rows("you want to", in: section).flatMap { row in
            row[1].matches(of: /\]\(([^)]+)\)/).map { String($0.output.1) }
        }
    }

    @Test("README and Martlet lead to each page once, and to nothing else")
    func pages() throws {
        let directory = "Sources/martlet/Documentation.docc"
        let pages = try Self.files(directory).filter { $0.hasSuffix(".md") && $0 != "Martlet.md" }
        #expect(pages.count > 10)
        let readme = Self.links(try Page("README.md"), "Pages")
        let more = ["SECURITY.md", "config/examples/README.md"]
        #expect(readme.sorted() == (pages.map { "\(directory)/\($0)" } + more).sorted())

        let overview = try Page(documentation: "Martlet")
        #expect(Self.links(overview, "Overview").sorted() == (pages + ["../../../SECURITY.md"]).sorted())
        let topics = overview.text(of: "Topics").matches(of: /<doc:(\w+)>/).map { "\($0.output.1).md" }
        #expect(topics.sorted() == pages)
    }
}
