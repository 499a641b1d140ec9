import EventLoop
import Text

@testable import WorkerSettings

/// A whole system in one process and on one thread: workers, a broker and APNs. Its seed decides everything.
package final class World: @unchecked Sendable {
    /// What the world saw that must not be.
    package struct Finding: Error, CustomStringConvertible {
        package let description: String
    }

    /// A lane that is turned so often in one moment never rests.
    private static let mostTurnsAtOnce = 20_000

    let time = WorldTime()
    /// When it began, in milliseconds since 1970.
    let start: Int64
    let blueprint: Blueprint
    /// The routes that the workers' configuration has now.
    var routes: [RouteConfiguration]
    /// The memory for jobs of each worker, in bytes; nil for what the configuration says.
    let memory: Int?
    let broker: ModelBroker
    private(set) lazy var apns = ModelAPNs(self, seed: seed)
    private(set) var workers: [ModelWorker] = []
    private(set) lazy var operators = Operators(self)
    private var agenda = Agenda()
    private let seed: UInt64
    private var random: SplitMix64
    private var turnsAtOnce = 0
    /// Whether connects to the broker fail.
    var isBrokerDown = false
    /// The longest time of bytes through the network, in microseconds.
    var slowest = 2_000
    /// What happened lately, for people; nil where nobody reads it.
    var trace: Trace?
    /// A digest of all that happened.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325

    /// What was seen in the middle of an event.
    private var finding: Finding?

    var now: MonotonicTime { time.monotonic }
    /// How many events there were.
    package var events: Int { agenda.noted }

    /// Makes a world without workers.
    ///
    /// - Parameters:
    ///   - seed: Decides all that happens.
    ///   - version: The broker's.
    ///   - yaml: The workers' configuration.
    ///   - memory: The memory for jobs of each worker, in bytes; nil for what the configuration says.
    init(seed: UInt64, version: ModelBroker.Version, yaml: String, memory: Int? = nil) throws {
        self.seed = seed
        start = time.truth
        random = SplitMix64(seed: seed)
        self.memory = memory
        blueprint = try Blueprint.of(yaml)
        routes = blueprint.configuration.routes
        broker = ModelBroker(version, now: time.monotonic, wall: time.truth)
        confirm()
        broker.declare(blueprint.configuration.topology(virtualHost: "/"))
    }

    /// Lets the broker take its time for confirms from now on.
    ///
    /// - Parameter longest: The longest time, in milliseconds.
    func confirm(within longest: Int = 20) {
        broker.confirmDelay = { [unowned self] in .milliseconds(draw(0...longest)) }
    }

    /// Adds a worker that does not run yet.
    func addWorker() -> ModelWorker {
        let worker = ModelWorker("worker-\(workers.count + 1)", in: self)
        workers.append(worker)
        return worker
    }

    /// Ends all workers, so that their sockets are closed: a lane lives as long as its loop watches anything.
    func end() {
        for worker in workers { worker.kill() }
    }

    // MARK: Chance

    /// Draws a number.
    func draw() -> UInt64 { random.next() }

    /// Draws a number from a range.
    func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// When bytes arrive that leave now, but no earlier than those that left before.
    func arrival(after earlier: MonotonicTime) -> MonotonicTime {
        max(earlier, now + .microseconds(draw(50...slowest)))
    }

    /// Bytes as they arrive: nearly always at once, sometimes in pieces.
    func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        guard bytes.count > 1, draw(1...16) == 1 else { return [bytes] }
        let cut = draw(1...(bytes.count - 1))
        return [Array(bytes[..<cut]), Array(bytes[cut...])]
    }

    // MARK: Time

    /// Notes what will happen.
    func at(_ time: MonotonicTime, _ happen: @escaping () -> Void) { agenda.note(at: time, happen) }

    /// Tells people what happens.
    func tell(_ text: @autoclosure () -> String) { trace?.note(text(), at: now) }

    /// Adds something that happened to the digest.
    func note(_ number: UInt64) { digest = (digest ^ number) &* 0x100_0000_01b3 }

    /// Ends the run after the present event.
    func found(_ description: String) { finding = finding ?? Finding(description: description) }

    /// Throws what was found.
    func judge() throws(Finding) {
        if let finding { throw finding }
    }

    /// Goes on to the next moment at which something happens, and lets it happen.
    ///
    /// - Parameter end: When to stop.
    /// - Returns: False at the end.
    func step(until end: MonotonicTime) throws(Finding) -> Bool {
        var next = min(agenda.next ?? .distantFuture, broker.nextDue ?? .distantFuture)
        for worker in workers { next = min(next, worker.nextTurn) }
        guard next <= end else {
            time.advance(to: end)
            return false
        }
        if next > now { turnsAtOnce = 0 }
        time.advance(to: next)
        broker.advance(to: now, wall: time.truth)
        while let happen = agenda.popDue(now) { happen() }
        for worker in workers {
            for cable in worker.cables { cable.collectFromPeer() }
        }
        for worker in workers where worker.nextTurn <= now {
            try worker.turn()
            turnsAtOnce += 1
            note(now.nanoseconds)
        }
        try judge()
        guard turnsAtOnce < Self.mostTurnsAtOnce else {
            throw Finding(description: "a lane was turned \(turnsAtOnce) times at one moment: it never rests")
        }
        return true
    }
}
