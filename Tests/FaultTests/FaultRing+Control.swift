import APNSSimulator
import BrokerClient
import EventLoop
import LocalStack
import PushWorker
import RabbitMQ
import Rig
import Text
import Topology

// What operators ask of all workers, and what these make of it.
extension FaultRing {
    // MARK: Operators

    /// Lets an operator ask all workers for something, and waits until the broker has it.
    ///
    /// - Parameter arguments: Those of `martlet`, such as `route pause shop`.
    func operate(_ arguments: String...) async throws {
        try await BlockingWork.run("operator") { [self] in
            try operate(try LocalRun.executable(), arguments, author: "anna")
        }
    }

    /// Lets an operator say something again and again, each time as a process of its own; blocks.
    ///
    /// - Parameters:
    ///   - turns: How often.
    ///   - author: Who asks; the reason names the turn.
    ///   - commands: What is asked for in each turn, such as `route pause shop`.
    func operate(_ turns: Int, author: String, _ commands: [String]) throws {
        let lines = commands.map { "\"$martlet\" \($0) --reason \"turn $turn\" \"$@\" || exit 1" }
        let script = """
            martlet=$0 turn=0
            while [ $turn -lt \(turns) ]; do
            turn=$((turn + 1))
            \(lines.joined(separator: "\n"))
            done
            """
        try operate("/bin/sh", ["-c", script, try LocalRun.executable()], author: author)
    }

    private func operate(_ program: String, _ arguments: [String], author: String) throws {
        let outcome = try ChildProcess.run(
            program, arguments + ["--broker", broker.uri, "--author", author], environment: broker.environment,
            timeout: setup.patience)
        guard outcome.status == 0 else { throw FaultFailure("\(author) cannot ask for it: \(outcome.errorText)") }
    }

    /// All commands that operators gave, in the order of their stream.
    func commands() async throws -> [ControlCommand] {
        try await BlockingWork.run("commands") { [local] in
            let client = try local.connect("commands")
            defer { client.close() }
            try client.startConsuming(
                queue: TopologyNames.controlQueue,
                arguments: FieldTable(entries: [.init(name: Array("x-stream-offset".utf8), value: .text("first"))]))
            var commands: [ControlCommand] = []
            while let delivery = try client.receive(timeout: .seconds(2)) {
                let body = Array(delivery.bytes[delivery.body])
                try client.acknowledge(delivery)
                if let command = ControlCommand(parsing: body) { commands.append(command) }
            }
            return commands
        }
    }

    // MARK: Pauses

    /// Pauses a route, and waits until nothing of it is under way any more.
    func pause(_ app: LocalRun.App) async throws {
        try await operate("route", "pause", app.route)
        try await awaitPause(of: app)
        try await until("nothing of the paused route is under way") { [broker] in
            try broker.queueCounts()[TopologyNames.jobQueue(route: app.route)]?.unacknowledged == 0
        }
    }

    /// Waits until all workers say that a route is paused.
    func awaitPause(of app: LocalRun.App) async throws { try await awaitRoute(app.route, being: "paused") }

    /// Expects that nothing more of a paused route was pushed, and much of another one.
    ///
    /// - Parameters:
    ///   - before: How many pushes there were of the paused one, and of the other.
    ///   - paused: The paused one.
    ///   - other: The other.
    func expectPause(since before: (paused: Int, other: Int), of paused: LocalRun.App, beside other: LocalRun.App) {
        let (more, others) = (pushes(paused.topic) - before.paused, pushes(other.topic) - before.other)
        expect(more == 0, "\(more) pushes of the paused route")
        expect(others > 100, "only \(others) pushes of the other route meanwhile: the run says nothing")
    }

    // MARK: The stream

    /// Fills the stream with what is not a command: random bytes, JSON that means nothing, and far too large bodies.
    ///
    /// - Parameter app: The app whose pause they would end.
    /// - Returns: How many messages that were.
    func spoilCommands(aboutPauseOf app: LocalRun.App) async throws -> Int {
        let resume = #""id":"x","action":"resume","route":"\#(app.route)","author":"nobody","issued_at":1"#
        let texts = [
            "[]", "null", "{}", #"{"type":"martlet.control","version":2,\#(resume)}"#,
            #"{"type":"other","version":1,\#(resume)}"#, #"{"type":"martlet.control","version":1,\#(resume)"#,
            #"{"type":"martlet.control","version":1,\#(resume),"campaign":"c"}"#,
            String(repeating: "[", count: ControlCommand.maximumLength),
        ]
        let command = Array(#"{"type":"martlet.control","version":1,\#(resume)}"#.utf8)
        let large = command + [UInt8](repeating: UInt8(ascii: " "), count: 200_000)
        return try await BlockingWork.run("garbage") { [local] in
            var random = SplitMix64(seed: FaultSelection.seed)
            let client = try local.connect("garbage")
            defer { client.close() }
            var message = OutgoingMessage()
            var count = 0
            func publish(_ body: [UInt8]) throws {
                count += 1
                message.reset()
                message.isMandatory = true
                message.setExchange(TopologyNames.control.utf8Span.span)
                message.setMessageID("garbage".utf8Span.span)
                message.setBody(body.span)
                _ = try client.submit(message)
            }
            for number in 0..<2_000 {
                var noise: [UInt8] = []
                let size = Int(random.next() % 2_000)
                while noise.count < size { withUnsafeBytes(of: random.next()) { noise.append(contentsOf: $0) } }
                try publish(noise)
                try publish(Array(texts[number % texts.count].utf8))
                if number.isMultiple(of: 100) { try publish(large) }
            }
            _ = try client.flush()
            return count
        }
    }

    /// Closes the connections on which workers read commands.
    func closeCommandConnections() async throws {
        try await evaluate(
            """
            [rabbit_networking:close_connection(Pid, "test") || [{pid, Pid}, {client_properties, P}] <- \
            rabbit_networking:connection_info_all([pid, client_properties]), \
            case lists:keyfind(<<"connection_name">>, 1, P) of \
            {_, _, N} -> binary:match(N, <<" control">>) =/= nomatch; false -> false end]
            """)
    }

    /// Waits until all workers say that they cannot read commands, and are ready for all that.
    func awaitBlindness() async throws {
        try await until("all workers say that they cannot read commands") { [self] in
            workers.allSatisfy { (try? $0.readiness())?.control?.detail != nil && $0.isReady }
        }
    }

    /// Waits until all workers read commands.
    func awaitSight() async throws {
        try await until("all workers read commands") { [self] in
            workers.allSatisfy { (try? $0.metric("martlet_control_up")) == 1 }
        }
    }

    /// Waits until all workers know so many commands in force.
    func awaitCommands(_ count: Int) async throws {
        try await until("all workers know \(count) commands") { [self] in
            workers.allSatisfy { (try? $0.metric("martlet_control_commands")) == Double(count) }
        }
    }

    // MARK: Campaigns

    /// Jobs of a campaign.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - prefix: How their references begin.
    ///   - app: Whose they are.
    func campaign(_ count: Int, _ prefix: String, of app: LocalRun.App) -> [RunJob] {
        (0..<count).map { RunJob(topic: app.topic, isRaw: false, reference: "\(prefix)\($0)") }
    }

    // MARK: Rates

    /// How many times a rate the pushes of an app came to, in the ten seconds in which they were most.
    ///
    /// - Parameters:
    ///   - perSecond: The rate.
    ///   - app: The app.
    ///   - span: When, in milliseconds since 1970.
    func largestShare(of perSecond: Int, _ app: LocalRun.App, in span: ClosedRange<Int64>) -> Double {
        let times = simulator.ledger.records().filter { $0.topic == app.topic && span.contains($0.time) }.map(\.time)
            .sorted()
        var (first, most) = (0, 0)
        for (position, time) in times.enumerated() {
            while times[first] <= time - 10_000 { first += 1 }
            most = max(most, position - first + 1)
        }
        return Double(most) / Double(10 * perSecond)
    }

    /// How many requests for an app each worker sent in ten seconds.
    func requestsOfTenSeconds(_ app: LocalRun.App) async throws -> [(name: String, count: Int)] {
        let workers = workers
        @Sendable func requests() throws -> [Double] {
            try workers.map { try $0.metric("martlet_apns_requests_total", "route=\"\(app.route)\"") }
        }
        let before = try await BlockingWork.run("requests", requests)
        try await endure(.seconds(10))
        let after = try await BlockingWork.run("requests", requests)
        return workers.indices.map { (workers[$0].name, Int(after[$0] - before[$0])) }
    }
}
