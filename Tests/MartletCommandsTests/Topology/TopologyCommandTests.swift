import BrokerClient
import FoundationEssentials
import LocalStack
import PushModel
import RabbitMQ
import Synchronization
import Testing
import Topology

@testable import MartletCommands

@Suite("Topology commands", .serialized, .timeLimit(.minutes(3)))
struct TopologyCommandTests {
    /// A directory with a configuration and what it names.
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", to: "key.p8")
    }

    /// Writes a configuration with two routes.
    private func configuration(uri: String, management: String) throws -> String {
        try configuration(
            uri: uri, management: management,
            lines: [
                "{ name: shop, environment: production, topics: [com.a, com.b], credential: key }",
                "{ name: beta, environment: development, topics: [com.a], credential: key, high_lane: true }",
            ])
    }

    /// Writes a configuration with some routes of production.
    private func configuration(
        uri: String, management: String, routes: [(name: String, topics: [String])]
    ) throws -> String {
        try configuration(
            uri: uri, management: management,
            lines: routes.map { route in
                "{ name: \(route.name), environment: production, topics: [\(route.topics.joined(separator: ", "))], "
                    + "credential: key }"
            })
    }

    private func configuration(uri: String, management: String, lines: [String]) throws -> String {
        try directory.write(
            """
            broker: { uri: "\(uri)", management: "\(management)" }
            credentials:
              - { name: key, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
            routes:
            \(lines.map { "  - \($0)" }.joined(separator: "\n"))
            """, to: "\(lines.count)-\(lines.joined().count).yaml")
    }

    @Test("What is rendered with users is a definitions file with hashes, and the passwords are told apart from it")
    func render() throws {
        let file = try configuration(uri: "amqp://guest:guest@127.0.0.1:1/shop", management: "http://g:g@127.0.0.1:1")
        let outcome = try Executable.run(["topology", "render", "-c", file, "--users"])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try JSONDecoder().decode([String: AnyJSON].self, from: Data(outcome.output)).count == 7)
        #expect(outcome.text.contains(#""name": "shop""#) || outcome.text.contains(#""name":"shop""#))
        let passwords = outcome.errorText.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        #expect(passwords.count == BrokerRole.allCases.count)
        for password in passwords { #expect(!outcome.text.contains(password)) }
        let plain = try Executable.run(["topology", "render", "-c", file])
        #expect(!plain.text.contains("password"))
        #expect(plain.errorText.isEmpty)
        let nowhere = try Executable.run(["topology", "render", "-c", file], intoFullDevice: true)
        #expect(nowhere.status == 74, "\(nowhere.errorText)")
    }

    @Test("A management API that is not there is unreachable, and its remedy is told")
    func unreachable() throws {
        let file = try configuration(uri: "amqp://guest:guest@127.0.0.1:1/", management: "http://g:secret@127.0.0.1:1")
        let outcome = try Executable.run(["topology", "check", "-c", file])
        #expect(outcome.status == 69, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("rabbitmq_management"))
        #expect(!outcome.errorText.contains("secret"))
    }

    @Test("Applying mends every difference that a check of an empty broker shows")
    func apply() throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let file = try configuration(uri: broker.uri, management: broker.managementURI)
        let empty = try Executable.run(["topology", "check", "-c", file, "--output", "json"])
        #expect(empty.status == 1, "\(empty.errorText)")
        #expect(empty.text.contains(#""kind":"missing","object":"queue apns.q.jobs.beta.high""#))
        let apply = try Executable.run(["topology", "apply", "-c", file])
        #expect(apply.status == 0, "\(apply.errorText)")
        let check = try Executable.run(["topology", "check", "-c", file])
        #expect(check.status == 0, "\(check.text)\(check.errorText)")
        #expect(check.errorText.contains("as it should be"))
        #expect(try broker.queueCounts().keys.contains("apns.q.jobs.beta.high"))

        try broker.control(["clear_policy", "apns.q.dead"])
        let drift = try Executable.run(["topology", "check", "-c", file])
        #expect(drift.status == 1)
        #expect(drift.errorText.contains(": 1 difference: 1 policy missing\n"), "\(drift.errorText)")
        #expect(drift.errorText.contains("RABBITMQADMIN_PASSWORD"))
        let commands = drift.text.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(commands.contains { $0.hasPrefix("v2  rabbitmqadmin --host 127.0.0.1 --port ") }, "\(drift.text)")
        // The tool of this machine is of version 1.
        let one = try #require(commands.first { $0.hasPrefix("v1  ") }).dropFirst(4)
        let mended = try ChildProcess.run(
            "/bin/sh", ["-c", String(one)],
            environment: ["RABBITMQADMIN_PASSWORD": "guest", "PATH": "/usr/bin:/bin"], timeout: .seconds(50))
        #expect(mended.status == 0, "\(one): \(mended.text)\(mended.errorText)")
        #expect(try Executable.run(["topology", "check", "-c", file]).status == 0)

        let client = try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: "topology")
        defer { client.close() }
        try client.bind(queue: "apns.q.jobs.beta", exchange: "apns.jobs", routingKey: "production.high.com.example.old")
        let asking = try Executable.run(["topology", "apply", "-c", file])
        #expect(asking.status == 64, "nobody can be asked, so nothing is removed")
        #expect(asking.errorText.contains("production.high.com.example.old") && asking.errorText.contains("--yes"))
        #expect(try Executable.run(["topology", "check", "-c", file]).text.contains("stale"))
        try expectWhatWasAsked(about: "production.high.com.example.old", client, file)
        let removing = try Executable.run(["topology", "apply", "-c", file, "--yes"])
        #expect(removing.status == 0, "\(removing.errorText)")
        #expect(try Executable.run(["topology", "check", "-c", file]).status == 0)

        for user in ["shop", "shop.eu"] {
            try broker.control(["add_user", user, "secret"])
            let own = "^apns\\.q\\.reply\\.\(user.replacing(".", with: "\\."))\\..+$"
            try broker.control(["set_permissions", user, own, own, own])
        }
        let alike = try Executable.run(["topology", "check", "-c", file])
        #expect(alike.status == 1, "\(alike.errorText)")
        #expect(alike.errorText.contains("the user shop may read and delete the reply queues of the user shop.eu"))
    }

    /// Says yes to a question about a stale binding after another one was made: what becomes stale while the question
    /// waits was not asked about, and stays.
    private func expectWhatWasAsked(about key: String, _ client: AMQPBlockingClient, _ file: String) throws {
        let screen = try TalkingProcess(Executable.terminal(["topology", "apply", "-c", file]), of: "/usr/bin/script")
        _ = try screen.line { $0.contains(key) }
        let late = "production.high.com.example.late"
        try client.bind(queue: "apns.q.jobs.beta", exchange: "apns.jobs", routingKey: late)
        try screen.tell("y")
        let outcome = try screen.line { $0.contains(" mended, ") }
        #expect(outcome.contains("1 mended, 1 remaining"), "\(outcome)")
        #expect(screen.process.wait(timeout: .seconds(20)) == .exited(1))
        let left = try Executable.run(["topology", "check", "-c", file]).text
        #expect(left.contains(late) && !left.contains(key), "\(left)")
    }

    @Test("Before an upgrade it shows the ways of others alone, each with the line for jobs.from")
    func upgrade() throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let file = try configuration(uri: broker.uri, management: broker.managementURI)
        let words = ["topology", "check", "-c", file, "--for-upgrade"]
        let bare = try Executable.run(words)
        #expect(bare.status == 0 && bare.text.isEmpty, "what the new version adds is no matter here: \(bare.text)")
        #expect(bare.errorText.contains("nothing of others leads in"))
        #expect(try Executable.run(["topology", "apply", "-c", file]).status == 0)
        let objects = """
            { "bindings": [ { "vhost": "/", "source": "amq.topic", "destination": "apns.jobs", "routing_key": "#",
              "destination_type": "exchange", "arguments": {} } ] }
            """
        try broker.importDefinitions(json: Array(objects.utf8))
        let entered = try Executable.run(words)
        #expect(entered.status == 1)
        #expect(entered.text.hasPrefix("foreign    exchange amq.topic  (bound to apns.jobs by #"), "\(entered.text)")
        #expect(entered.text.contains(#"to trust it with every app: jobs: { from: ["amq.topic"] }"#), "\(entered.text)")
        let json = try Executable.run(words + ["-o", "json"])
        #expect(json.text.contains(#""jobs_from":"amq.topic""#), "\(json.text)")
        let apply = try Executable.run(["topology", "apply", "-c", file])
        #expect(apply.status == 1 && apply.errorText.contains("0 mended, 1 remaining"), "\(apply.errorText)")
        // The tool of this machine is of version 1.
        let one = try #require(entered.text.split(separator: "\n").first { $0.contains("v1  ") })
        let mended = try ChildProcess.run(
            "/bin/sh", ["-c", String(one.drop { $0 == " " }.dropFirst(4))],
            environment: ["RABBITMQADMIN_PASSWORD": "guest", "PATH": "/usr/bin:/bin"], timeout: .seconds(50))
        #expect(mended.status == 0, "\(one): \(mended.text)\(mended.errorText)")
        #expect(try Executable.run(["topology", "check", "-c", file]).status == 0)
    }

    @Test("Of a route that is no more, bindings go with --prune alone, and the queue by the command that is printed")
    func staleQueue() throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let file = try configuration(uri: broker.uri, management: broker.managementURI)
        #expect(try Executable.run(["topology", "apply", "-c", file]).status == 0)
        let client = try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: "topology")
        defer { client.close() }
        var arguments = FieldTable()
        arguments.entries = [.init(name: Array("x-queue-type".utf8), value: .text("quorum"))]
        _ = try client.declareQueue("apns.q.jobs.gone", exclusive: false, arguments: arguments)
        try client.bind(queue: "apns.q.jobs.gone", exchange: "apns.jobs", routingKey: "production.normal.com.gone")
        for (flags, state) in [([], "remains"), (["--prune"], "mended")] {
            let apply = try Executable.run(["topology", "apply", "-c", file, "--yes"] + flags)
            let binding = apply.text.split(separator: "\n").first { $0.contains("production.normal.com.gone") }
            #expect(binding?.hasPrefix("\(state)  stale      binding") == true, "\(apply.text)\(apply.errorText)")
        }
        let check = try Executable.run(["topology", "check", "-c", file])
        #expect(check.status == 1 && check.text.contains("deleting it deletes its messages"), "\(check.text)")
        let lines = check.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let command = try #require(lines.first { $0.starts(with: ["rabbitmqctl", "delete_queue"]) }, "\(check.text)")
        try broker.control(Array(command.dropFirst()))
        #expect(try broker.queueCounts()["apns.q.jobs.gone"] == nil)
    }

    /// What `apply` does with a configuration that has only one of the routes, and with one where a topic has moved.
    @Test("A topic that moves while jobs come reaches one route each time; other configurations' routes stay")
    func move() async throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let both = try configuration(uri: broker.uri, management: broker.managementURI)
        #expect(try Executable.run(["topology", "apply", "-c", both]).status == 0)

        let half = try configuration(
            uri: broker.uri, management: broker.managementURI, routes: [("shop", ["com.a", "com.b"])])
        let kept = try Executable.run(["topology", "apply", "-c", half, "--yes"])
        #expect(kept.status == 1 && kept.text.contains("remains  stale      binding"), "\(kept.text)")
        #expect(try Executable.run(["topology", "check", "-c", both]).status == 0)

        let moved = try configuration(
            uri: broker.uri, management: broker.managementURI,
            routes: [("shop", ["com.a"]), ("office", ["com.b"])])
        let isDone = Mutex(false)
        async let applying = Task.detached {
            defer { isDone.withLock { $0 = true } }
            return try Executable.run(["topology", "apply", "-c", moved, "--yes"])
        }.value
        let client = try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: "producer")
        defer { client.close() }
        var message = OutgoingMessage()
        message.setExchange("apns.jobs")
        message.setRoutingKey(Array("production.normal.com.b".utf8).span)
        var published = 0
        while !isDone.withLock(\.self) {
            #expect(try client.publishConfirmed(message) == .confirmed)
            published += 1
        }
        let applied = try await applying
        // Behind the `await`, the test may go on on another thread.
        client.disown()
        #expect(applied.text.contains("mended  missing    binding"), "\(applied.text)\(applied.errorText)")
        #expect(try client.publishConfirmed(message) == .confirmed)
        let counts = try broker.queueCounts()
        let old = counts["apns.q.jobs.shop"]?.total ?? 0
        let new = counts["apns.q.jobs.office"]?.total ?? 0
        #expect(old > 0 && new > 0 && old + new == published + 1, "\(old) and \(new) of \(published + 1)")
        #expect(counts["apns.q.jobs.unrouted"]?.total == 0)
    }
}

/// Any JSON, of which only its being there counts.
private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {}
}
