import LocalStack
import Testing

@testable import MartletCommands

@Suite("The commands route, campaign and control", .timeLimit(.minutes(2)))
struct ControlCommandLineTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", to: "key.p8")
    }

    @Test(
        "What cannot be meant is a wrong command line, before any broker is asked",
        arguments: [
            (["route", "pause"], "<route>"), (["route", "rate", "shop"], "<rate>"),
            (["route", "stop", "shop"], "unknown command 'stop'"),
            (["route", "rate", "shop", "500"], "500"),
            (["route", "pause", "shop", "--for", "2h", "--until", "+2h"], "--for and --until say the same"),
            (["route", "pause", "shop", "--for", "31d"], "30 days"),
            (["route", "pause", "shop", "--until", "2020-01-01T00:00:00Z"], "not in the future"),
            (["route", "pause", "shop", "--until", "tomorrow"], "--until"),
            (["route", "pause", ""], "the route's name is empty"),
            (["route", "resume", "shop", "--for", "31d"], "30 days"),
            (["route", "rate", "shop", "off", "--for", "2h"], "neither --for nor --until"),
            (["campaign", "resume", "c7/", "--until", "2020-01-01T00:00:00Z"], "not in the future"),
            (["route", "trust", "shop", "--for", "2h"], "unknown option '--for'"),
            (["route", "trust", "shop", "--author", ""], "--author is empty"),
            (["campaign", "pause", ""], "the beginning of references is empty"),
            (["campaign", "cancel", "c7/"], "Add --yes to go ahead."),
            (["campaign", "rate", "campaign-7/", "5/s"], "unknown command 'rate'"),
            (["control", "--recent", "1001"], "--recent must be between 0 and 1000"),
        ])
    func usage(_ arguments: [String], _ text: String) throws {
        let nowhere = ["MARTLET_BROKER_URI": "amqp://guest:guest@127.0.0.1:1"]
        let outcome = try Executable.run(arguments, environment: nowhere)
        #expect(outcome.status == 64, "\(outcome.errorText)")
        #expect(outcome.errorText.contains(text), "\(outcome.errorText)")
        #expect(outcome.text.isEmpty)
    }

    @Test("With a configuration an unknown route is refused with the nearest name, and a known one goes to its broker")
    func configuredRoutes() throws {
        let file = try directory.write(
            """
            broker: { uri: "amqp://guest:secret@127.0.0.1:1" }
            credentials:
              - { name: key, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
            routes:
              - { name: shop, environment: production, topics: [com.example.shop], credential: key }
              - { name: chat, environment: production, topics: [com.example.chat], credential: key }
            """, to: "martlet.yaml")
        let unknown = try Executable.run(["route", "pause", "shpo", "--config", file])
        #expect(unknown.status == 64, "\(unknown.errorText)")
        #expect(unknown.errorText.contains("no route \"shpo\". Did you mean \"shop\"?"), "\(unknown.errorText)")
        let known = try Executable.run(["route", "pause", "shop", "--config", file])
        #expect(known.status == 69 && known.errorText.contains("127.0.0.1:1"), "\(known.errorText)")
        #expect(!known.errorText.contains("secret"))
        let other = try Executable.run(
            ["route", "pause", "shop", "--config", file, "--broker", "amqp://me:hidden@127.0.0.1:2"])
        #expect(other.status == 69 && other.errorText.contains("127.0.0.1:2"), "\(other.errorText)")
        #expect(!other.errorText.contains("hidden"))
    }

    @Test("The help says how long a command lasts, and that a slash at the end matters")
    func help() throws {
        func text(_ words: [String]) throws -> String {
            try Executable.run(["help"] + words).text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }
        let campaign = try text(["campaign"])
        #expect(campaign.contains("after 30 days") && campaign.contains("does not match campaign-70/"))
        #expect(try text(["route"]).contains("after 30 days"))
        #expect(try text(["route", "rate"]).contains("all workers together"))
        for words in [["route", "resume"], ["campaign", "resume"]] {
            let help = try text(words)
            #expect(help.contains("--for <for>") && help.contains("stands again"), "\(words)")
        }
    }
}
