import EventLoop
import FoundationEssentials
import Glibc
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import TestSupport
import Testing
import Topology

@testable import MartletCommands

/// Workers that never see a broker: how they start and end.
@Suite("The worker as a process", .timeLimit(.minutes(2)))
struct WorkerCommandTests {
    private let directory: TemporaryDirectory
    private let configuration: String

    init() throws {
        directory = try TemporaryDirectory()
        let credentials = try DemoCredentials(in: directory)
        configuration = """
            broker: { uri: "amqp://127.0.0.1:1/" }
            apns: { production: "https://localhost:1" }
            credentials:
              - { name: key, kind: token, key_file: \(credentials.keyFile), key_id: DEMOKEY001, team_id: DEMOTEAM01 }
            routes:
              - { name: shop, environment: production, topics: [com.a], credential: key }

            """
    }

    /// Starts a worker; its log goes to `log`.
    private func start(_ command: [String], listen: String) throws -> ChildProcess {
        try ChildProcess.start(
            command[0], Array(command.dropFirst()), environment: ["MARTLET_ADMIN_LISTEN": listen],
            output: .file(directory.file("log")), error: .file(directory.file("errors")))
    }

    @Test("An admin address that another process has ends the worker at its start, with the place and the remedy")
    func addressTaken() throws {
        let port = try FreePort.next()
        let file = try directory.write(configuration, to: "martlet.yaml")
        let first = try start([Executable.path, "worker", "-c", file], listen: "127.0.0.1:\(port)")
        try first.awaitListening(on: port)
        let second = try Executable.run(
            ["worker", "-c", file], environment: ["MARTLET_ADMIN_LISTEN": "127.0.0.1:\(port)"])
        #expect(second.status == CommandStatus.configuration.rawValue, "\(second.errorText)")
        #expect(second.errorText.contains("admin.listen: cannot listen on 127.0.0.1:\(port): Address already in use"))
        #expect(!second.text.contains("admin server"), "it never listened")
        first.signal(SIGTERM)
        #expect(first.wait(timeout: .seconds(50)) == .exited(0))
    }

    @Test("A configuration that cannot be read to its end at SIGHUP does not keep the worker from obeying SIGTERM")
    func blockedReload() throws {
        let port = try FreePort.next()
        let file = try directory.write(configuration, to: "martlet.yaml")
        let worker = try start([Executable.path, "worker", "-c", file], listen: "127.0.0.1:\(port)")
        try worker.awaitListening(on: port)
        // Nobody ever writes into the pipe.
        try #require(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
        worker.signal(SIGHUP)
        worker.signal(SIGTERM)
        #expect(worker.wait(timeout: .seconds(50)) == .exited(0))
    }

    @Test("A worker that cannot have its threads says how many it may have, and what to raise", arguments: [1, 4, 8])
    func threads(limit: Int) throws {
        // The limit is not for root, and not for who may raise it; it counts the threads of a user, who has none so
        // far.
        let user = geteuid() == 0 ? ["setpriv", "--ruid=61523", "--bounding-set=-sys_resource,-sys_admin"] : []
        let worker = ["prlimit", "--nproc=\(geteuid() == 0 ? limit : 1)", Executable.path, "worker", "-c", "none"]
        let end = try ChildProcess.run("/usr/bin/env", user + worker, timeout: .seconds(50))
        #expect(end.status == CommandStatus.gaveUp.rawValue, "\(end.errorText)")
        #expect(end.errorText.contains("threads beside its first, and the system allows"), "\(end.errorText)")
        #expect(end.errorText.contains("TasksMax="))
    }

    @Test("A signal while the worker reads its configuration ends it in good order", arguments: [SIGTERM, SIGINT])
    func early(signal: Int32) throws {
        let pipe = directory.file("martlet.yaml")
        try #require(mkfifo(pipe, 0o600) == 0)
        let worker = try start([Executable.path, "worker", "-c", pipe], listen: "127.0.0.1:0")
        // Returns once the worker has the other end.
        let descriptor = open(pipe, O_WRONLY)
        try #require(descriptor >= 0)
        worker.signal(signal)
        let bytes = Array(configuration.utf8)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        #expect(worker.wait(timeout: .seconds(50)) == .exited(0))
    }

    @Test("A service manager hears what the worker waits for, that it lives, that it stops; who asks hears the same")
    func serviceManager() throws {
        let place = "127.0.0.1:\(try FreePort.next())"
        let manager = DatagramReader(isAbstract: true)
        let file = try directory.write(configuration, to: "martlet.yaml")
        let worker = try ChildProcess.start(
            Executable.path, ["worker", "-c", file],
            environment: [
                "MARTLET_ADMIN_LISTEN": place, "NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "400000",
            ], output: .file(directory.file("log")), error: .file(directory.file("errors")))
        var heard: [String] = []
        while !heard.contains(where: { $0.contains("STATUS=waits: broker (consuming): ") }), let text = manager.next() {
            heard.append(text)
        }
        #expect(heard.contains { $0.contains("STATUS=waits: broker (consuming): ") }, "\(heard)")
        var lives = false
        while !lives, let text = manager.next() { lives = text.contains("WATCHDOG=1") }
        #expect(lives)
        let life = try Executable.run(["health"], environment: ["MARTLET_ADMIN_LISTEN": place])
        #expect(life.text == "alive\n", "\(life.errorText)")
        let readiness = try Executable.run(["health", "--ready", "--address", place])
        #expect(readiness.status == 1)
        #expect(readiness.errorText.hasPrefix("martlet: the worker at \(place) is not ready: broker (consuming): "))
        worker.signal(SIGTERM)
        while let text = manager.next(), !text.contains("STOPPING=1") { heard.append(text) }
        #expect(worker.wait(timeout: .seconds(50)) == .exited(0))
        #expect(!heard.contains { $0.contains("READY=1") }, "it never reached a broker")
    }

    @Test("The first line of the log has version, file, broker and user, and the variables that win over the file")
    func firstLine() throws {
        let file = try directory.write(configuration, to: "martlet.yaml")
        let place = "127.0.0.1:\(try FreePort.next())"
        let worker = try ChildProcess.start(
            Executable.path, ["worker", "-c", file],
            environment: ["MARTLET_ADMIN_LISTEN": place, "MARTLET_BROKER_URI": "amqp://alice:SECRET@127.0.0.1:1/team"],
            output: .file(directory.file("log")), error: .file(directory.file("errors")))
        while worker.wait(timeout: .milliseconds(20)) == nil,
            try Executable.run(["health"], environment: ["MARTLET_ADMIN_LISTEN": place]).status != 0
        {}
        worker.signal(SIGTERM)
        #expect(worker.wait(timeout: .seconds(50)) == .exited(0))
        let log = try String(contentsOfFile: directory.file("log"), encoding: .utf8)
        let first = try JSON(reading: Array(log.utf8.prefix { $0 != 0x0a }))
        #expect(first["message"]?.text == "worker starts")
        #expect(first["version"]?.text == Version.number && first["file"]?.text == file)
        #expect(first["broker"]?.text == "alice@127.0.0.1:1/team")
        #expect(first["environment"]?.text == "MARTLET_BROKER_URI, MARTLET_ADMIN_LISTEN")
        #expect(first["routes"]?.text == "1")
        #expect(!log.contains("SECRET"))
    }

    @Test("Operators are told where the admin server listens, also where the system chose its port")
    func adminPort() throws {
        // A virtual host of its own: the worker would take the jobs of other tests.
        let broker = try SharedBroker.broker.get()
        let topology = BrokerTopology(
            routes: [TopologyRoute(name: "shop", environment: .production, topics: ["com.a"])], tiers: [],
            virtualHost: "admin-port")
        try broker.importDefinitions(json: Array(topology.definitions().utf8))
        try broker.control(["set_permissions", "--vhost", "admin-port", "guest", ".*", ".*", ".*"])
        let uri = "\(broker.uri)admin-port"
        let file = try directory.write(configuration, to: "martlet.yaml")
        let worker = try ChildProcess.start(
            Executable.path, ["worker", "-c", file],
            environment: [
                "MARTLET_ADMIN_LISTEN": "127.0.0.1:0", "MARTLET_BROKER_URI": uri, "MARTLET_INSTANCE": "chosen",
            ], output: .file(directory.file("log")), error: .file(directory.file("errors")))
        let reader = FleetReader([try AMQPEndpoint.parse(uri: uri)])
        var report: WorkerReport?
        while report == nil, worker.wait(timeout: .zero) == nil {
            reader.readOnce()
            let workers = reader.news.picture.workers(at: WallClock.milliseconds())
            report = workers.first { $0.report.instance == "chosen" }?.report
        }
        let address = try #require(report?.admin)
        #expect(address.hasPrefix("127.0.0.1:") && !address.hasSuffix(":0"))
        #expect(try Executable.run(["health", "--address", address]).text == "alive\n")
        worker.signal(SIGTERM)
        #expect(worker.wait(timeout: .seconds(50)) == .exited(0))
    }

    @Test("Signals within a second are one wish to end; a later one means at once")
    func stopRequests() {
        let rows: [([Duration], [StopRequests.Step])] = [
            ([.zero], [.drain]),
            ([.zero, .zero, .milliseconds(999)], [.drain, .nothing, .nothing]),
            ([.zero, .seconds(1)], [.drain, .leave]),
            ([.zero, .milliseconds(10), .seconds(30)], [.drain, .nothing, .leave]),
        ]
        let begin = ContinuousClock.now
        for (times, steps) in rows {
            var requests = StopRequests()
            #expect(times.map { requests.next(at: begin.advanced(by: $0)) } == steps)
        }
    }

    @Test("Operating lists the signals that a worker obeys, and what one of them means the second time")
    func signals() throws {
        let rows = try Page(documentation: "Operating").rows("signal", in: "Stop")
        try #require(rows.count == 3)
        #expect(rows[0][0] == WorkerCommand.stopSignals.map { "\($0)" }.joined(separator: ", "))
        #expect(StopRequests.patience == .seconds(1) && rows[1][0] == "the same again, a second later or more")
        #expect(rows[2][0] == "\(WorkerCommand.reloadSignal)")
        let status = CommandStatus.gaveUp.rawValue
        #expect(rows[0][1].hasSuffix("or \(status) where something was left"))
        #expect(rows[1][1].hasPrefix("leaves at once with \(status);"))
    }
}
