import EventLoop
import Glibc
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing

@testable import MartletCommands
@testable import Topology

@Suite("The command status", .timeLimit(.minutes(2)))
struct StatusCommandTests {
    @Test(
        "What does not go together is a wrong command line",
        arguments: [
            (["--watch"], "not one"), (["--watch", "-o", "json"], "--watch draws text"),
            (["--watch", "--reasons"], "every dead letter"),
            (["--config", "x.yaml", "--broker", "amqp://h"], "--broker is for use without --config"),
        ])
    func usage(_ arguments: [String], _ text: String) throws {
        let outcome = try Executable.run(["status"] + arguments)
        #expect(outcome.status == 64, "\(outcome.errorText)")
        #expect(outcome.errorText.contains(text), "\(outcome.errorText)")
        #expect(outcome.text.isEmpty)
    }

    @Test("A management API that is not there is unreachable, with a remedy and without the password")
    func unreachable() throws {
        let outcome = try Executable.run(
            ["status", "--broker", "amqp://g:secret@127.0.0.1:1", "--management", "http://g:secret@127.0.0.1:1"])
        #expect(outcome.status == 69, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("rabbitmq_management") && outcome.errorText.contains("--management"))
        #expect(!outcome.errorText.contains("secret"))
    }

    @Test("The plugin is to be enabled where nothing answers, not where a certificate is not trusted")
    func untrusted() {
        let silent = CommandFailure(ManagementError(code: .unreachable, message: "refused"))
        #expect(silent.status == .unreachable && silent.remedy?.contains("rabbitmq-plugins enable") == true)
        let untrusted = CommandFailure(ManagementError(code: .untrusted, message: "unknown authority"))
        #expect(untrusted.status == .unreachable && untrusted.remedy == nil)
    }

    @Test(
        "Without a configuration the management API is named, goes with the broker's variable, or is beside the broker",
        arguments: [
            (nil, [:], "http://localhost:15672"), (nil, ["MARTLET_BROKER_URI": "amqps://u:p@h/v"], "https://h:15671"),
            (
                nil,
                ["MARTLET_BROKER_URI": "amqp://u:p@h", "MARTLET_BROKER_MANAGEMENT": "http://u:p@other:80"],
                "http://other:80"
            ), ("http://u:p@named:81", ["MARTLET_BROKER_MANAGEMENT": "http://u:p@other:80"], "http://named:81"),
            // A login meant for one broker goes to no other.
            (nil, ["MARTLET_BROKER_MANAGEMENT": "http://u:p@other:80"], "http://localhost:15672"),
        ] as [(String?, [String: String], String)])
    func management(_ address: String?, _ environment: [String: String], _ place: String) throws {
        let settings = BrokerSettings(allowsPlaintext: true)
        let endpoints = try settings.endpoints(environment: environment)
        let client = try settings.managementClient(address, beside: endpoints, environment: environment)
        #expect(client.place == place)
    }

    @Test("Where a client certificate logs in to the broker, the management API's address is asked for")
    func certificate() throws {
        let settings = BrokerSettings(uri: "amqps://h?auth_mechanism=external")
        var endpoint = AMQPEndpoint(host: "h", useTLS: true)
        endpoint.saslExternal = true
        let failure = #expect(throws: CommandFailure.self) {
            try settings.managementClient(nil, beside: [endpoint], environment: [:])
        }
        #expect(failure?.status == .usage && failure?.remedy?.contains("--management") == true)
    }

    @Test("It is coloured on a terminal, but not where NO_COLOR holds something")
    func colours() throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let directory = try TemporaryDirectory()
        for noColour in [nil, "", "1"] {
            let file = directory.file("shown\(noColour ?? "-")")
            let process = try Executable.startOnTerminal(
                ["status", "--broker", broker.uri, "--management", broker.managementURI],
                environment: noColour.map { ["NO_COLOR": $0] } ?? [:], output: file)
            #expect(process.wait(timeout: .seconds(50)) != nil)
            let text = try ChildProcess.run("/bin/cat", [file]).text
            #expect(text.contains("dead letters: no queue"), "\(text)")
            #expect(text.contains("\u{1b}") == (noColour != "1"), "\(text)")
        }
    }

    @Test("Without --watch it ends at the first SIGTERM, whatever it waits for")
    func terminated() throws {
        let silent = try SmallHTTPServer(status: 200)
        defer { withExtendedLifetime(silent) {} }
        let place = ["--broker", "amqp://g:g@127.0.0.1:1", "--management", "http://g:g@127.0.0.1:\(silent.port)"]
        let process = try ChildProcess.start(Executable.path, ["status"] + place, environment: [:])
        try silent.waitForConnection()
        process.signal(SIGTERM)
        #expect(process.wait(timeout: .seconds(5)) == .signalled(SIGTERM))
    }

    @Test("On a terminal it is drawn again and again, whatever cannot be asked, until Ctrl-C ends it in good order")
    func watch() throws {
        let nowhere = ["--broker", "amqp://127.0.0.1:1", "--management", "http://u:p@127.0.0.1:1"]
        let screen = try TalkingProcess(
            Executable.terminal(["status", "--watch"] + nowhere), of: "/usr/bin/script")
        for _ in 0..<2 { _ = try screen.line { $0.contains("cannot be reached") } }
        try screen.tell("\u{3}")
        #expect(screen.process.wait(timeout: .seconds(20)) == .exited(0))
    }

    @Test("Reports and commands are waited for until they are read, and not where they cannot be read")
    func catchingUp() throws {
        let source = StatusSource(
            endpoints: [try AMQPEndpoint.parse(uri: "amqp://127.0.0.1:1")],
            client: try ManagementClient(address: SecretText("http://u:p@127.0.0.1:1")), configuration: nil)
        #expect(source.isCatchingUp)
        source.reader.readOnce()
        #expect(source.isCatchingUp && source.reader.news.trouble != nil)
        source.control.readOnce()
        #expect(!source.isCatchingUp)
    }

    @Test("The first drawing shows workers as their latest reports say, not their earlier ones")
    func firstDrawing() throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        try broker.importDefinitions(json: SharedBroker.definitions)
        let link = try CommandConnection.open(BrokerSettings(uri: broker.uri))
        let now = WallClock.milliseconds()
        for number in 0...500 {
            let report = WorkerReport(
                instance: "w-1", program: "0.1.0", startedAt: now - 600_000,
                sentAt: number < 500 ? now - 200_000 + Int64(number) : now)
            let message = OutgoingJob(
                routingKey: "", contentType: "application/json", messageID: "r-\(number)", body: report.json,
                notifications: 0)
            try link.publish(message, exchange: TopologyNames.fleet, replyTo: nil) { _ in }
        }
        try link.finishPublishing { _ in }
        link.close()
        let screen = try TalkingProcess(
            Executable.terminal(["status", "--watch", "--broker", broker.uri, "--management", broker.managementURI]),
            of: "/usr/bin/script")
        let first = try screen.line { line in
            line.hasPrefix("w-1 ") || ["none has", "said nothing", "not shown"].contains { line.contains($0) }
        }
        #expect(first.hasPrefix("w-1 ") && first.contains(" ready "), "\(first)")
        try screen.tell("\u{3}")
        #expect(screen.process.wait(timeout: .seconds(20)) == .exited(0))
    }
}
