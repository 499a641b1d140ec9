import BrokerClient
import EventLoop
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig

// What faults are brought about with, and what goes on meanwhile.
extension FaultRing {
    // MARK: Load

    /// Publishes jobs steadily while something happens. A producer whose connection breaks makes a new one; jobs whose
    /// confirm it never saw may be done, and need not.
    ///
    /// - Parameters:
    ///   - rate: Jobs per second, spread over the apps.
    ///   - milliseconds: After how long APNs answers them.
    ///   - body: What happens.
    func underLoad(
        of rate: Int, taking milliseconds: ClosedRange<Int> = 100...1_000, _ body: () async throws -> Void
    ) async throws {
        let stop = StopSign()
        let load = Task { [self] in
            try await BlockingWork.run("load") { [self] in
                while !stop.isRaised { produce(rate, taking: milliseconds, until: stop) }
            }
        }
        do {
            try await body()
        } catch {
            stop.raise()
            try await load.value
            throw error
        }
        stop.raise()
        try await load.value
    }

    /// Publishes through one connection until that breaks or somebody says stop.
    private func produce(_ rate: Int, taking milliseconds: ClosedRange<Int>, until stop: StopSign) {
        // A broker that is away, frozen or in alarm is asked again after a moment.
        guard
            let client = try? AMQPBlockingClient.connect(
                AMQPEndpoint.parse(uri: "\(broker.uri)?connection_timeout=2000"), clientName: "load",
                patience: .seconds(5))
        else { return _ = poll(nil, 0, 200) }
        defer { client.close() }
        var producer = RunProducer(client)
        var sent = 0
        do {
            while !stop.isRaised {
                for job in setup.load(max(1, rate / 10), taking: milliseconds, after: sent) {
                    sent += 1
                    try producer.publish(job.publication, enqueuedAt: WallClock.milliseconds(), audit: audit)
                }
                try producer.finish(audit: audit)
                poll(nil, 0, 100)
            }
        } catch {
            producer.abandon(audit: audit)
        }
    }

    /// Watches a number while something happens.
    ///
    /// - Parameters:
    ///   - value: Looked at again and again; may block.
    ///   - body: What happens.
    /// - Returns: The largest it ever was.
    func largest(
        _ value: @escaping @Sendable () throws -> Double, during body: () async throws -> Void
    ) async throws -> Double {
        let stop = StopSign()
        let watch = Task {
            try await BlockingWork.run("watch") {
                var largest = 0.0
                while !stop.isRaised {
                    largest = max(largest, (try? value()) ?? 0)
                    poll(nil, 0, 50)
                }
                return largest
            }
        }
        do {
            try await body()
        } catch {
            stop.raise()
            _ = try await watch.value
            throw error
        }
        stop.raise()
        return try await watch.value
    }

    // MARK: Time

    /// Waits until the worker says that it is not ready, and expects that soon; not answering is not saying so.
    ///
    /// - Parameter limit: How long it may take.
    func awaitNotice(within limit: Duration) async throws {
        let began = ContinuousClock.now
        try await until("the worker notices") { [self] in try worker.saysUnready }
        let took = began.duration(to: .now)
        note("noticed after \(FaultBench.seconds(took)) s")
        expect(took <= FaultBench.patience(limit), "the worker noticed after \(FaultBench.seconds(took)) s only")
    }

    /// Expects that the worker was soon ready the last time: a single time may be three times what row 1 holds the
    /// median of five to.
    func expectQuickRecovery() {
        let took = recoveries.last ?? .zero
        expect(
            took > .zero && took <= FaultBench.patience(.seconds(15)),
            "the worker was ready \(FaultBench.seconds(took)) s after the broker accepted logins")
    }

    /// Expects that no push starts for some time.
    func expectNoPush(for duration: Duration, _ why: String) async throws {
        let before = pushes
        try await endure(duration)
        expect(pushes == before, "\(pushes - before) more pushes although \(why)")
    }

    /// Waits until a metric of the worker is at least this much.
    func awaitMetric(_ name: String, _ labels: String = "", atLeast least: Double) async throws {
        try await until("\(name) is at least \(least)") { [self] in try worker.metric(name, labels) >= least }
    }

    // MARK: The network and the file systems of this bench alone

    /// Drops packets that arrive and match.
    ///
    /// - Parameter matches: What is matched, in the words of nft(8), each for example `tcp dport 5672`.
    func drop(_ matches: [String]) throws {
        guard FaultSelection.isIsolated else {
            throw FaultFailure("this needs a network of its own: run it with Tests/FaultTests/run")
        }
        let rules = matches.map { "add rule inet fault arriving \($0) counter drop\n" }.joined()
        // Dropped where they arrive: where they leave, the sender would be told.
        try nft(
            """
            add table inet fault
            flush table inet fault
            add chain inet fault arriving { type filter hook input priority 0; }
            \(rules)
            """)
    }

    /// Lets all packets pass again.
    func dropNothing() throws { try nft("add table inet fault\ndelete table inet fault\n") }

    /// How many packets were dropped since `drop(_:)`.
    var dropped: Int {
        get throws {
            // "… counter packets 3 bytes 180 drop"
            let words = try run("/usr/sbin/nft", "list", "table", "inet", "fault").split(whereSeparator: \.isWhitespace)
            return zip(words, words.dropFirst()).reduce(0) { $1.0 == "packets" ? $0 + (Int($1.1) ?? 0) : $0 }
        }
    }

    private func nft(_ rules: String) throws {
        let outcome = try ChildProcess.run("/usr/sbin/nft", ["-f", "-"], input: Array(rules.utf8))
        guard outcome.status == 0 else { throw FaultFailure("nft refused: \(outcome.errorText)") }
    }

    /// Runs a program, which has to succeed.
    @discardableResult
    func run(_ program: String, _ arguments: String...) throws -> String {
        let outcome = try ChildProcess.run(program, arguments, environment: broker.environment)
        guard outcome.status == 0 else {
            throw FaultFailure("\(program) \(arguments.joined(separator: " ")) failed: \(outcome.errorText)")
        }
        return outcome.text
    }

    /// Moves the broker's data to a file system of their own while it is down.
    ///
    /// - Parameter megabytes: How much that holds.
    /// - Returns: Where it is mounted.
    func moveBrokerData(toFileSystemOf megabytes: Int) throws -> String {
        guard FaultSelection.isIsolated else {
            throw FaultFailure("this needs mounts of its own: run it with Tests/FaultTests/run")
        }
        let data = broker.directory.file("data")
        let old = broker.directory.file("data-before")
        try run("/bin/mv", data, old)
        try run("/bin/mkdir", data)
        try run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "none", data)
        atEnd { _ = try? ChildProcess.run("/bin/umount", ["-l", data]) }
        try run("/bin/cp", "-a", "\(old)/.", data)
        return data
    }
}
