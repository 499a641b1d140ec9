import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import MartletCommands

@Suite("The pages", .timeLimit(.minutes(1)))
struct PageTests {
    /// Links to files and sections of the repository that lead nowhere.
    private static func dead(_ page: Page) throws -> [String] {
        let root = URL(filePath: PythonEnvironment.repository)
        let file = root.appending(path: page.path)
        return try page.links.filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }.filter { link in
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target =
                parts[0].isEmpty
                ? file : file.deletingLastPathComponent().appending(path: parts[0]).standardizedFileURL
            guard FileManager.default.fileExists(atPath: target.path) else { return true }
            guard parts.count > 1 else { return false }
            let path = String(target.path.dropFirst(root.path.count)).drop { $0 == "/" }
            return !(try Page(String(path)).anchors.contains(parts[1]))
        }
    }

    @Test("Every link to a file or a section of the repository leads there")
    func links() throws {
        let pages = try Page.all()
        #expect(pages.count > 12)
        #expect(pages.map(\.links.count).reduce(0, +) > 150)
        for page in pages { #expect(try Self.dead(page) == [], "\(page.path)") }
    }

    @Test("A link to a file or a section that is not there is found")
    func deadLinks() throws {
        let text = "# A b\n[1](README.md#figures) [2](#rules) [3](#c) [4](nowhere.md)\n```\n# c\n[5](x)\n```\n"
        #expect(try Self.dead(Page("SECURITY.md", text: text)) == ["#c", "nowhere.md"])
    }

    @Test("Numbers have commas between thousands", arguments: [(0, "0"), (999, "999"), (1_005, "1,005")])
    func numbers(_ number: Int, _ text: String) { #expect(Page.number(number) == text) }

    /// The commands that lines of the form `martlet name subcommand …` begin with and that there are not.
    private static func unknown(_ lines: [String]) throws -> [String] {
        let root = try #require(CommandTree(Martlet.self))
        return lines.filter { line in
            var command = root
            for word in line.split(separator: " ").dropFirst() where !command.subcommands.isEmpty {
                // Behind options and examples no command follows.
                guard word.allSatisfy({ $0.isLetter || $0 == "-" }), !word.hasPrefix("-") else { return false }
                guard let next = command.subcommands.first(where: { $0.name == word }) else {
                    return !command.takesWords
                }
                command = next
            }
            return false
        }
    }

    @Test("The commands that tables of pages name are there")
    func namedCommands() throws {
        let lines = try Page.all().flatMap(\.cells).flatMap { Page.quoted($0) }
            .filter { $0.hasPrefix("martlet ") && !$0.hasPrefix("martlet help") }
        #expect(lines.count > 30)
        #expect(try Self.unknown(lines) == [])
        #expect(try Self.unknown(["martlet fly", "martlet route stop x"]) == ["martlet fly", "martlet route stop x"])
    }

    @Test("Operating lists the commands that the program shows, and no other")
    func commandTable() throws {
        let names = Martlet.configuration.ungroupedSubcommands.filter { $0.configuration.shouldDisplay }
            .compactMap { $0.configuration.commandName }
        let lines = try Page(documentation: "Operating").rows("to", in: "Commands").flatMap { Page.quoted($0[1]) }
        let listed = lines.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(Set(listed) == Set(names).subtracting(Self.elsewhere))
    }

    /// Commands that Operating explains in other sections, or that other pages explain.
    private static let elsewhere: Set = ["context", "demo"]

    @Test("Operating lists the exit statuses that the program has, and no other")
    func statuses() throws {
        let rows = try Page(documentation: "Operating").rows("exit status", in: "Exit status")
        #expect(rows.map { $0[0] } == CommandStatus.allCases.map { "\($0.rawValue)" })
    }

    @Test("The general help lists the exit statuses that the program has, and no other")
    func statusesOfHelp() throws {
        let text = Martlet.configuration.discussion.components(separatedBy: "\n").joined(separator: " ")
        let list = try #require(text.components(separatedBy: "Exit status: ").last?.components(separatedBy: ".").first)
        let numbers = list.components(separatedBy: ", ").compactMap { $0.components(separatedBy: " ").first }
        #expect(numbers == CommandStatus.allCases.map { "\($0.rawValue)" })
    }

    @Test("The README lists the commands that the program shows, and no other")
    func commands() throws {
        let names = Martlet.configuration.ungroupedSubcommands.filter { $0.configuration.shouldDisplay }
            .compactMap { $0.configuration.commandName }
        #expect(names.count > 10)
        #expect(Set(try Page("README.md").names("command", in: "Commands")) == Set(names.map { "martlet \($0)" }))
    }

    @Test("Design lists the goals of the Makefile for people, and no other")
    func goals() throws {
        let makefile = try String(contentsOfFile: "\(PythonEnvironment.repository)/Makefile", encoding: .utf8)
        let shown = makefile.matches(of: /@echo 'make ([a-z]+)/).map { "make \($0.output.1)" }
        #expect(shown.count > 10)
        let names = try Page(documentation: "Design").names("command", in: "Develop").filter { $0.hasPrefix("make ") }
        // It is a part of `make install`.
        #expect(Set(names) == Set(shown + ["make manual"]))
    }

    @Test("Design says where to read in each module, and names no other")
    func modules() throws {
        let modules = try FileManager.default.contentsOfDirectory(atPath: "\(PythonEnvironment.repository)/Sources")
        let cells = try Page(documentation: "Design").rows("where", in: "Where to read").map { $0[0] }.joined()
        let named = cells.matches(of: /\[([A-Za-z0-9]+)[^\]]*\]/).map { String($0.output.1) }
        // Modules of C have headers only.
        #expect(Set(named) == Set(modules).subtracting(["CLinux", "CNGHTTP2", "COpenSSL", "CRabbitMQ"]))
    }
}
