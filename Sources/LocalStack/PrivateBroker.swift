import Glibc
import Synchronization

/// A real RabbitMQ that is private: it has its own directory, ports, node name, Erlang cookie and port mapper. It is
/// bound to the loopback interface and works for any user. Nothing of a RabbitMQ that the machine may run is read, used
/// or changed.
///
/// It ends with `stop()`, with its last reference, or with this process, and leaves nothing behind.
package final class PrivateBroker: Sendable {
    /// The directory of RabbitMQ's scripts. These work for any user; those in /usr/sbin demand root or the user
    /// rabbitmq. The variable `MARTLET_RABBITMQ_PROGRAMS` names the directory of another RabbitMQ.
    package static let programs =
        getenv("MARTLET_RABBITMQ_PROGRAMS").map { String(cString: $0) } ?? "/usr/lib/rabbitmq/bin"
    /// The program that lets a node evaluate an expression.
    static let evaluator = "/usr/bin/erl_call"
    /// Further lines for `rabbitmq.conf` that suit the RabbitMQ of ``programs``, from the variable
    /// `MARTLET_RABBITMQ_CONFIGURATION`.
    static let configuration = getenv("MARTLET_RABBITMQ_CONFIGURATION").map { [String(cString: $0)] } ?? []

    /// The ports of one private broker, all of the loopback interface.
    struct Ports: Sendable {
        var amqp: Int
        var amqps: Int
        var management: Int
        var distribution: Int
        var portMapper: Int

        /// Five ports that are free now.
        static func free() throws(LocalStackError) -> Ports {
            let ports = try FreePort.several(5)
            return Ports(
                amqp: ports[0], amqps: ports[1], management: ports[2], distribution: ports[3], portMapper: ports[4])
        }
    }

    /// The processes of a running broker.
    private struct Processes {
        var server: ChildProcess?
        var portMapper: ChildProcess?
    }

    /// Everything the broker writes: configuration, data, log.
    package let directory: TemporaryDirectory
    /// The name of its Erlang node, unique on this machine.
    package let nodeName: String
    /// The whole environment of the broker and of its tools.
    package let environment: [String: String]
    /// The ports it uses.
    let ports: Ports
    private let options: PrivateBrokerOptions
    private let processes = Mutex(Processes())

    /// Whether it uses the port mapper of another node of the same cluster.
    private let isCompanion: Bool

    private init(options: PrivateBrokerOptions, beside leader: PrivateBroker? = nil) throws(LocalStackError) {
        directory = try TemporaryDirectory(prefix: "martlet-broker")
        var ports = try Ports.free()
        if let leader { ports.portMapper = leader.ports.portMapper }
        isCompanion = leader != nil
        self.ports = ports
        nodeName = "martlet-\(getpid())-\(UInt32.random(in: 0..<1_000_000))@localhost"
        environment = PrivateBrokerFiles.environment(directory: directory, ports: ports, nodeName: nodeName)
        self.options = options
        try PrivateBrokerFiles.write(to: directory, ports: ports, options: options)
    }

    deinit {
        stop()
    }

    /// Starts a broker and waits until it speaks AMQP; takes about 5 s.
    ///
    /// - Parameter options: What it shall offer.
    /// - Returns: The running broker, with the user `guest` and the virtual host `/`.
    /// - Throws: `LocalStackError` if RabbitMQ is not installed or does not start. The message has the end of the log.
    package static func start(
        _ options: PrivateBrokerOptions = PrivateBrokerOptions()
    ) throws(LocalStackError) -> PrivateBroker {
        guard access("\(programs)/rabbitmq-server", X_OK) == 0 else {
            throw LocalStackError(
                .programMissing, "\(programs)/rabbitmq-server is missing: install the Debian package rabbitmq-server")
        }
        guard access(evaluator, X_OK) == 0 else {
            throw LocalStackError(.programMissing, "\(evaluator) is missing: install the Debian package erlang-base")
        }
        // Another process may take a free port before the broker binds it. Then all five ports are chosen again, twice
        // at most.
        var attempts = 3
        while true {
            let broker = try PrivateBroker(options: options)
            do throws(LocalStackError) {
                try broker.boot()
                return broker
            } catch {
                attempts -= 1
                guard error.code == .programFailed, attempts > 0 else { throw error }
            }
        }
    }

    /// Starts more nodes that form a cluster with this one, and gives every quorum queue a member on each of them. It
    /// takes about 10 s per node. The nodes use this node's port mapper, so they must end before this node.
    ///
    /// - Parameter count: How many nodes.
    /// - Returns: The nodes, each of which answers on ports of its own.
    /// - Throws: `LocalStackError` when one does not start or is not let in.
    /// - SeeAlso: <https://www.rabbitmq.com/docs/clustering>
    package func startCompanions(_ count: Int) throws(LocalStackError) -> [PrivateBroker] {
        var companions: [PrivateBroker] = []
        for _ in 0..<count {
            let companion = try PrivateBroker(options: options, beside: self)
            let cookie = try ChildProcess.run("/bin/cp", [directory.file(".erlang.cookie"), companion.directory.path])
            guard cookie.status == 0 else {
                throw LocalStackError(.programFailed, "the cookie cannot be copied: \(cookie.errorText)")
            }
            try companion.boot()
            for command in [["stop_app"], ["reset"], ["join_cluster", nodeName], ["start_app"]] {
                try companion.control(command)
            }
            try evaluate("rabbit_quorum_queue:grow('\(companion.nodeName)', <<\".*\">>, <<\".*\">>, all).")
            companions.append(companion)
        }
        return companions
    }

    /// The AMQP port on 127.0.0.1.
    package var port: Int { ports.amqp }
    /// The encrypted AMQP port on 127.0.0.1, where a TLS listener was asked for.
    package var tlsPort: Int { ports.amqps }
    /// The management API's port on 127.0.0.1, where it was asked for.
    package var managementPort: Int { ports.management }
    /// Where workers and producers connect.
    package var uri: String { "amqp://guest:guest@127.0.0.1:\(ports.amqp)/" }
    /// Whether the management API was asked for.
    package var hasManagement: Bool { options.management }
    /// The management API, for a worker's `broker.management`.
    package var managementURI: String { "http://guest:guest@127.0.0.1:\(ports.management)" }
    /// What the broker logged.
    package var logFile: String { directory.file("broker.log") }

    /// The process id of the Erlang machine, 0 while it is down.
    package var processID: Int32 { processes.withLock { $0.server?.processID ?? 0 } }

    /// Sends a signal to the broker: `SIGSTOP` freezes it, `SIGCONT` wakes it, `SIGKILL` is a crash.
    ///
    /// - Parameter number: The number of the signal.
    package func signal(_ number: Int32) {
        processes.withLock { $0.server }?.signal(number)
    }

    /// Kills the broker as a power cut would; its data stay, and `restart()` brings it back on the same ports.
    package func crash() {
        processes.withLock { $0.server.take() }?.terminate(grace: .zero)
    }

    /// Starts the broker again on the same ports and data, ending it first where it runs.
    ///
    /// - Throws: `LocalStackError` when it does not come back.
    package func restart() throws(LocalStackError) {
        processes.withLock { $0.server.take() }?.terminate()
        try boot()
    }

    /// Ends the broker with everything it started and removes its directory; harmless when repeated.
    package func stop() {
        let ended = processes.withLock { running in
            defer { running = Processes() }
            return running
        }
        // The data are thrown away, so an orderly end, which takes 3 s, would save nothing.
        ended.server?.signal(SIGCONT)
        ended.server?.terminate(grace: .zero)
        ended.portMapper?.terminate(grace: .zero)
        directory.remove()
    }

    /// Lets the broker and its directory outlive this process.
    ///
    /// - Returns: The ids of its processes; killing these processes ends the broker. It ends with this object too, so
    ///   keep a reference.
    package func leaveRunning() -> [Int32] {
        directory.keep()
        return processes.withLock { running in
            [running.server, running.portMapper].compactMap { process in
                process?.leaveRunning()
                return process?.processID
            }
        }
    }

    /// Starts what does not run yet and waits until the broker answers.
    private func boot() throws(LocalStackError) {
        let log = ChildProcess.Stream.file(logFile)
        if !isCompanion, processes.withLock({ $0.portMapper }) == nil {
            let mapper = try ChildProcess.start(
                "/usr/bin/epmd", ["-port", "\(ports.portMapper)", "-address", "127.0.0.1"], environment: environment,
                output: log, error: log)
            processes.withLock { $0.portMapper = mapper }
            // The node registers once, at its start, and fails if the mapper is not up by then.
            try waitUntil(ports.portMapper, answers: nil, from: mapper)
        }
        let server = try ChildProcess.start(
            "\(Self.programs)/rabbitmq-server", environment: environment, output: log, error: log)
        processes.withLock { $0.server = server }
        try waitUntil(ports.amqp, answers: Array("AMQP".utf8) + [0, 0, 9, 1], from: server)
        // The encrypted listener starts after the other one.
        if options.tls != nil { try waitUntil(ports.amqps, answers: nil, from: server) }
    }

    /// Waits until a port accepts a connection and, where a greeting is given, answers it.
    private func waitUntil(
        _ port: Int, answers greeting: [UInt8]?, from process: ChildProcess
    ) throws(LocalStackError) {
        let deadline = ContinuousClock.now.advanced(by: options.startTimeout)
        while !Probe.answers(port: port, greeting: greeting) {
            if let ending = process.wait(timeout: .milliseconds(20)) {
                throw LocalStackError(.programFailed, "RabbitMQ ended while starting (\(ending)): \(logTail())")
            }
            if ContinuousClock.now > deadline {
                throw LocalStackError(
                    .timedOut, "RabbitMQ did not answer within \(options.startTimeout): \(logTail())")
            }
        }
    }

    /// The last lines of the log, for an error message.
    private func logTail() -> String {
        let tail = try? ChildProcess.run("/usr/bin/tail", ["-n", "12", logFile], timeout: .seconds(5)).text
        return tail.map { $0.isEmpty ? "nothing was logged" : $0 } ?? "no log"
    }
}
