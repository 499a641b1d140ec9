import Foundation
import LocalStack
import Testing

@testable import MartletCommands

@Suite("martlet context", .timeLimit(.minutes(2)))
struct ContextTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory(prefix: "martlet-context") }

    private func martlet(_ arguments: String..., more: [String: String] = [:]) throws -> ChildProcess.Outcome {
        try Executable.run(arguments, environment: ["XDG_CONFIG_HOME": home.path].merging(more) { $1 })
    }

    @Test("The first context is in use, another one can be chosen, and passwords are not shown")
    func choice() throws {
        let first = try martlet(
            "context", "add", "here", "--broker", "amqp://guest:secret@localhost:1/", "--management",
            "http://localhost:2")
        #expect(first.status == 0 && first.errorText.contains("it is in use"))
        let second = try martlet("context", "add", "there", "--broker", "amqps://me:secret@mq.example.com/")
        #expect(second.errorText.contains("choose it with: martlet context use there"))
        #expect(try martlet("context", "use", "nowhere").status == 78)
        #expect(try martlet("context", "use", "there").status == 0)
        let list = try martlet("context", "ls")
        #expect(list.text.split(separator: "\n").map { String($0.prefix(7)) } == ["  here ", "* there"])
        #expect(list.text.contains("mq.example.com") && !list.text.contains("secret"))
        #expect(try martlet("context", "rm", "there").status == 0)
        #expect(try martlet("context", "ls").text.hasPrefix("  here "))
        let attributes = try FileManager.default.attributesOfItem(atPath: home.file("martlet/contexts.json"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("Commands go where the context says; MARTLET_CONTEXT, variables of the broker and --broker win over it")
    func use() throws {
        for (name, port) in [("one", 1), ("two", 2)] {
            #expect(
                try martlet("context", "add", name, "--broker", "amqp://guest:guest@127.0.0.1:\(port)/").status == 0)
        }
        func place(_ arguments: [String] = [], _ more: [String: String] = [:]) throws -> String {
            let outcome = try Executable.run(
                ["dead", "list"] + arguments,
                environment: ["XDG_CONFIG_HOME": home.path].merging(more) { $1 })
            #expect(outcome.status == 69)
            return outcome.errorText
        }
        #expect(try place().contains("127.0.0.1:1"))
        #expect(try place([], ["MARTLET_CONTEXT": "two"]).contains("127.0.0.1:2"))
        #expect(try place([], ["MARTLET_BROKER_URI": "amqp://127.0.0.1:3/"]).contains("127.0.0.1:3"))
        #expect(try place(["--broker", "amqp://127.0.0.1:4/"]).contains("127.0.0.1:4"))
        #expect(try martlet("dead", "list", more: ["MARTLET_CONTEXT": "three"]).status == 78)
    }

    @Test("A variable that only goes with a broker's address does not lead commands past the context to another broker")
    func ignored() throws {
        let added = try martlet("context", "add", "here", "--broker", "amqp://guest:guest@127.0.0.1:1/")
        #expect(added.status == 0)
        let stray = ["MARTLET_BROKER_ALLOW_PLAINTEXT": "true"]
        let push = ["push", "a1", "--topic", "com.a", "--alert", "x"]
        for command in [["dead", "list"], ["status"], push, ["topology", "check"]] {
            let outcome = try Executable.run(
                command, environment: ["XDG_CONFIG_HOME": home.path].merging(stray) { $1 })
            #expect(outcome.status == 78)
            let words = "the context here is ignored because MARTLET_BROKER_ALLOW_PLAINTEXT is set"
            #expect(outcome.errorText.contains(words) && outcome.errorText.contains("--broker"), "\(outcome.errorText)")
        }
        let named = try martlet("dead", "list", "--broker", "amqp://127.0.0.1:4/", more: stray)
        #expect(named.status == 69 && named.errorText.contains("127.0.0.1:4"), "\(named.errorText)")
        let uri = ["MARTLET_BROKER_URI": "amqp://127.0.0.1:3/"]
        let both = try martlet("dead", "list", more: stray.merging(uri) { $1 })
        #expect(both.status == 69 && both.errorText.contains("127.0.0.1:3"), "\(both.errorText)")
        let file = try configuration(
            broker: #"broker: { uri: "amqp://g:g@127.0.0.1:5/", management: "http://g:g@127.0.0.1:5" }"#)
        let configured = try martlet("topology", "check", "-c", file, more: stray)
        #expect(configured.status == 69, "\(configured.errorText)")
        #expect(try martlet("context", "use").status == 0)
        let contextless = try martlet("dead", "list", more: stray)
        #expect(contextless.status != 78, "\(contextless.errorText)")
    }

    @Test("A fault in what a context says names the context, not a variable that nobody set")
    func origin() throws {
        let file = try home.write("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", to: "key.pem")
        let added = try martlet(
            "context", "add", "cert", "--broker", "amqps://mq.example.com?auth_mechanism=external",
            "--broker-cert-file", file, "--broker-key-file", file)
        #expect(added.status == 0, "\(added.errorText)")
        let outcome = try martlet("status")
        #expect(outcome.status == 78)
        let text = outcome.errorText
        #expect(text.contains("the context cert does not lead to the management API with a login"), "\(text)")
        #expect(text.contains("add the context again with it: martlet context add cert --broker"), "\(text)")
        #expect(!text.contains("MARTLET_"), "\(text)")
    }

    /// Writes a configuration with one route.
    private func configuration(broker: String) throws -> String {
        try home.write("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", to: "key.p8")
        return try home.write(
            """
            \(broker)
            credentials:
              - { name: key, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
            routes:
              - { name: shop, environment: production, topics: [com.a], credential: key }
            """, to: "app.yaml")
    }

    @Test("A context's configuration file is that of commands without --config")
    func config() throws {
        #expect(try martlet("context", "add", "app", "--config", "\(home.path)/missing.yaml").status == 0)
        let render = try martlet("topology", "render")
        #expect(render.status == 66 && render.errorText.contains("missing.yaml"))
    }

    @Test(
        "Without a broker of its own, a context's broker is that of its configuration", arguments: ["dead", "status"])
    func configuredBroker(command: String) throws {
        let file = try configuration(
            broker: #"broker: { uri: "amqp://g:g@127.0.0.1:3/", management: "http://g:g@127.0.0.1:3" }"#)
        #expect(try martlet("context", "add", "app", "--config", file).status == 0)
        let outcome = try martlet(command)
        #expect(outcome.status == 69 && outcome.errorText.contains("127.0.0.1:3"), "\(outcome.errorText)")
    }

    @Test(
        "The broker of a file that --config names wins over the context; a file without one goes with the context",
        arguments: [("broker: { uri: \"amqp://guest:guest@127.0.0.1:3/\" }", 15_672), ("", 2)])
    func named(broker: String, port: Int) throws {
        let added = try martlet(
            "context", "add", "staging", "--broker", "amqp://guest:guest@127.0.0.1:1/", "--management",
            "http://guest:guest@127.0.0.1:2")
        #expect(added.status == 0)
        let file = try configuration(broker: broker)
        let outcome = try martlet("topology", "check", "-c", file)
        #expect(outcome.status != 0 && outcome.errorText.contains("127.0.0.1:\(port)"), "\(outcome.errorText)")
    }

    @Test(
        "What a file says for its own broker never goes to the context's, but that any broker may have does",
        arguments: [
            ("password_file: key.p8", "broker.password_file"), ("allow_plaintext: true", "broker.allow_plaintext"),
            // The context has one itself.
            ("management: \"http://g:g@127.0.0.1:3\"", nil),
            ("tls: { cert_file: key.p8, key_file: key.p8 }", "broker.tls.cert_file"),
            ("heartbeat: 30s, allow_plaintext: false", nil),
        ] as [(String, String?)])
    func foreignLogin(settings: String, named: String?) throws {
        let added = try martlet(
            "context", "add", "staging", "--broker", "amqp://me:secret@127.0.0.1:1/", "--management",
            "http://me:secret@127.0.0.1:2")
        #expect(added.status == 0, "\(added.errorText)")
        let file = try configuration(broker: "broker: { \(settings) }")
        for command in [["topology", "check"], ["status"], ["route", "pause", "shop", "--dry-run"]] {
            let environment = ["XDG_CONFIG_HOME": home.path]
            let outcome = try Executable.run(command + ["-c", file], environment: environment)
            guard let named else {
                #expect(outcome.status == 69, "\(outcome.errorText)")
                continue
            }
            #expect(outcome.status == 78, "\(outcome.errorText)")
            let words = "\(named) is for the broker of this file, and the address would be that of the context staging"
            #expect(outcome.errorText.contains(words), "\(outcome.errorText)")
            #expect(outcome.errorText.contains("MARTLET_BROKER_URI"), "\(outcome.errorText)")
        }
        // Nothing goes to a broker here.
        let render = try martlet("topology", "render", "-c", file)
        #expect(!render.errorText.contains("context staging"), "\(render.errorText)")
    }

    @Test("The password file of a context's own configuration does not win over the password in the context's address")
    func pairedPassword() throws {
        let file = try configuration(broker: #"broker: { uri: "amqp://g@127.0.0.1:3/", password_file: key.p8 }"#)
        func add(_ more: String...) throws {
            let arguments = ["context", "add", "both", "--broker", "amqp://me:secret@127.0.0.1:1/", "--config", file]
            let added = try Executable.run(arguments + more, environment: ["XDG_CONFIG_HOME": home.path])
            #expect(added.status == 0, "\(added.errorText)")
        }
        try add()
        let refused = try martlet("topology", "check")
        #expect(refused.status == 78 && refused.errorText.contains("context both"), "\(refused.errorText)")
        #expect(refused.errorText.contains("--broker-password-file"), "\(refused.errorText)")
        try add("--broker-password-file", file, "--management", "http://me@127.0.0.1:2")
        let allowed = try martlet("topology", "check")
        #expect(allowed.status == 69 && allowed.errorText.contains("127.0.0.1:2"), "\(allowed.errorText)")
    }

    @Test("With --broker nothing of the context counts: neither its routes, nor that there is no such context")
    func elsewhere() throws {
        let file = try configuration(
            broker: #"broker: { uri: "amqp://g:g@127.0.0.1:3/", management: "http://g:g@127.0.0.1:3" }"#)
        #expect(try martlet("context", "add", "app", "--config", file).status == 0)
        let pause = ["route", "pause", "news", "--dry-run"]
        let environment = ["XDG_CONFIG_HOME": home.path]
        let inside = try Executable.run(pause, environment: environment)
        #expect(inside.status == 64 && inside.errorText.contains(#"no route "news""#), "\(inside.errorText)")
        let broker = ["--broker", "amqp://g:g@127.0.0.1:4/"]
        for more in [[:], ["MARTLET_CONTEXT": "missing"]] {
            let outside = try Executable.run(pause + broker, environment: environment.merging(more) { $1 })
            #expect(outside.status == 69 && outside.errorText.contains("127.0.0.1:4"), "\(outside.errorText)")
        }
    }

    @Test("A file that holds something else is an error in words, and names are plain")
    func mistakes() throws {
        #expect(try martlet("context", "add", "a b", "--broker", "amqp://localhost/").status == 64)
        #expect(try martlet("context", "add", "a").status == 64)
        #expect(try martlet("context", "add", "a", "--broker", "amqp://mq.example.com/").status == 64)
        try FileManager.default.createDirectory(atPath: home.file("martlet"), withIntermediateDirectories: true)
        try Data("[]".utf8).write(to: URL(filePath: home.file("martlet/contexts.json")))
        let outcome = try martlet("dead", "list")
        #expect(outcome.status == 78 && outcome.errorText.contains("does not hold contexts"))
    }
}
