import Testing

@testable import MartletCommands

@Suite("Options and commands that do not exist", .timeLimit(.minutes(1)))
struct UnknownWordTests {
    private static let tree = CommandTree(
        "martlet", options: ["--version": false],
        subcommands: [
            CommandTree(
                "push", options: ["--topic": true, "--wait": false, "-o": true, "-n": false], takesWords: true),
            CommandTree(
                "dead",
                subcommands: [
                    CommandTree("list", options: ["--limit": true]), CommandTree("show", takesWords: true),
                ], defaultSubcommand: "list"),
            CommandTree(
                "simulator", options: ["--port": true], subcommands: [CommandTree("certificate", takesWords: false)]),
        ])

    @Test(
        "A command line of words that exist has none",
        arguments: [
            "", "--version", "push a1 b2 --topic com.a --wait -n", "push --topic=com.a a1 -o json -ojson -nw", "push -",
            "push --topic --strange a1", "push a1 -- --strange", "dead", "dead --limit 3", "dead list --limit=3",
            "dead show j", "simulator --port 1", "simulator certificate", "push a1 -5",
        ])
    func known(_ line: String) {
        #expect(UnknownWord(in: words(line), of: Self.tree) == nil)
    }

    @Test(
        "The first word that does not exist is named, with the nearest that does",
        arguments: [
            ("fly", "martlet", "unknown command 'fly'. There are push, dead, simulator."),
            ("psuh a1", "martlet", "unknown command 'psuh'. Did you mean 'push'?"),
            ("push --tpoic com.a a1", "martlet push", "unknown option '--tpoic'. Did you mean '--topic'?"),
            ("push --tpoic=com.a a1", "martlet push", "unknown option '--tpoic'. Did you mean '--topic'?"),
            ("push --top com.a a1", "martlet push", "unknown option '--top'. Did you mean '--topic'?"),
            ("push a1 --strange --tpoic", "martlet push", "unknown option '--strange'."),
            ("push a1 -q", "martlet push", "unknown option '-q'."),
            ("dead lst", "martlet dead", "unknown command 'lst'. Did you mean 'list'?"),
            ("dead --limt 3", "martlet dead", "unknown option '--limt'. Did you mean '--limit'?"),
            ("dead list x", "martlet dead list", "unexpected word 'x': martlet dead list takes options only"),
            ("--versoin", "martlet", "unknown option '--versoin'. Did you mean '--version'?"),
            ("simulator certficate", "martlet simulator", "unknown command 'certficate'. Did you mean 'certificate'?"),
            ("\u{1b}[2J", "martlet", "unknown command '\\x1b[2J'. There are push, dead, simulator."),
        ])
    func unknown(_ line: String, _ command: String, _ description: String) {
        let word = UnknownWord(in: words(line), of: Self.tree)
        #expect(word?.command == command && word?.description == description, "\(word?.description ?? "none")")
    }

    @Test("Every command of the program is read, with its options")
    func program() throws {
        let tree = try #require(CommandTree(Martlet.self))
        #expect(tree.subcommands.map(\.name).contains("push") && tree.subcommands.count > 10)
        let push = try #require(tree.subcommands.first { $0.name == "push" })
        #expect(push.takesWords && push.options["--topic"] == true && push.options["--wait"] == false)
        #expect(push.options["-n"] == false && push.options["--help"] == false && push.options["-o"] == true)
        #expect(tree.subcommands.first { $0.name == "dead" }?.standIn?.name == "list")
        #expect(tree.subcommands.filter(\.isHidden).map(\.name) == ["bench-sending"])
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}
