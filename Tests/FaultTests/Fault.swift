import LocalStack
import Rig
import Testing

@testable import APNSSimulator
/// Something that goes wrong, how it is brought about, and what a worker makes of it.
struct Fault: Sendable, CustomTestStringConvertible {
    /// Its numbers in the list of faults; one run may prove several.
    var numbers: [Int]
    /// What goes wrong, in a few words.
    var name: String
    /// What a worker makes of it.
    var expectation: String
    /// Whether every change is tried on it.
    var isQuick = false
    /// Whether it may take more than five minutes.
    var isLong = false
    /// What it happens to.
    var setup = FaultSetup()
    /// Brings it about and repairs it, once half of the setup's jobs are done; the bench checks everything afterwards.
    var run: @Sendable (FaultRing) async throws -> Void

    /// A fault of the catalogue.
    /// - Parameters:
    ///   - numbers: Its numbers in the list of faults.
    ///   - name: What goes wrong, in a few words.
    ///   - expects: What a worker makes of it.
    ///   - isQuick: Whether every change is tried on it.
    ///   - isLong: Whether it may take more than five minutes.
    ///   - setup: Changes what it happens to.
    ///   - run: Brings it about and repairs it.
    init(
        _ numbers: Int..., name: String, expects: String, isQuick: Bool = false, isLong: Bool = false,
        setup: (inout FaultSetup) -> Void = { _ in }, run: @escaping @Sendable (FaultRing) async throws -> Void
    ) {
        self.numbers = numbers
        self.name = name
        expectation = expects
        self.isQuick = isQuick
        self.isLong = isLong
        setup(&self.setup)
        self.run = run
    }

    /// Its numbers as the table shows them.
    var label: String { numbers.isEmpty ? "random" : numbers.map(String.init).joined(separator: ",") }
    var testDescription: String { "\(label) \(name)" }
}

/// What a fault happens to: how many jobs and workers, and how they are set up.
struct FaultSetup: Sendable {
    /// Jobs published before the fault, spread over the apps.
    var jobs = 3_000
    /// Milliseconds after which APNs answers these.
    var milliseconds = 500...4_000
    /// Whether some jobs ask for several notifications, some of these are refused, and some need a second attempt.
    var isMixed = false
    /// Workers started before the fault.
    var workers = 1
    /// The apps pushed for, each with a route and a queue.
    var apps = [LocalRun.App(route: "shop", topic: "com.example.shop")]
    /// Whether a route is beside them that nothing happens to, whose latency is judged: see ``FaultNeighbour``.
    var neighbour = false
    /// How many lanes workers have, where a fault does not say otherwise.
    static let lanes = 2
    /// More lines of the workers' configuration.
    var settings = "lanes: \(FaultSetup.lanes)"
    /// Variables that override the workers' configuration.
    var variables: [String: String] = [:]
    /// A program and arguments that become the worker.
    var wrapper: [String] = []
    /// Whether workers reach the broker through `FaultRing.proxy`.
    var brokerProxy = false
    /// Whether workers reach APNs through `FaultRing.apnsProxy`.
    var apnsProxy = false
    /// What the broker offers.
    var broker = PrivateBrokerOptions()
    /// Erlang expressions that the broker evaluates before the first worker starts.
    var preparation: [String] = []
    /// How many more nodes form a cluster with the broker; every queue then has a member on each.
    var companions = 0
    /// What APNs does.
    var scenario = Scenario()
    /// Whether the answers of APNs tell the time.
    var sendsDate = false
    /// How long workers wait for an answer of APNs.
    var requestTimeout = Duration.seconds(30)
    /// The outcomes that jobs may have.
    var outcomes: Set<String> = ["accepted"]
    /// How many dead letters the broker writes itself.
    var brokerDeadLetters = 0
    /// Queues that may hold something in the end.
    var leftovers: Set<String> = []
    /// The most memory a worker may ever have had, in MiB; a debug build needs more than a release build.
    var memoryCeiling = FaultSelection.memoryCeiling
    /// How many jobs may be pushed twice, where that is fewer than were held.
    var mostTwice: Int?
    /// How long may pass until everything is final once the fault is over.
    var patience = Duration.seconds(90)

    /// Makes its jobs mixed, with retries soon.
    mutating func mix() {
        isMixed = true
        outcomes.formUnion(["dead_token", "rejected"])
        settings += "\nretry: { tiers: [2s, 15s, 1m, 5m, 30m] }"
    }

    /// All routes of the workers.
    var routes: [LocalRun.App] {
        guard neighbour else { return apps }
        // As without a neighbour, apps live on all lanes while they are no more than these.
        let spread = apps.count <= Self.lanes ? FaultNeighbour.app.lanes : 1
        return apps.map { app in
            var app = app
            app.lanes = spread
            return app
        } + [FaultNeighbour.app]
    }

    /// New jobs for its apps.
    /// - Parameters:
    ///   - count: How many, spread over the apps.
    ///   - milliseconds: After how long APNs answers.
    ///   - first: How many there were before.
    func load(_ count: Int, taking milliseconds: ClosedRange<Int>, after first: Int = 0) -> [RunJob] {
        var jobs = RunJob.several(count, taking: milliseconds)
        for index in jobs.indices {
            jobs[index].topic = apps[(first + index) % apps.count].topic
            if isMixed { jobs[index].mix(first + index) }
        }
        return jobs
    }
}

extension RunJob {
    /// The most notifications that a mixed job asks for.
    static let mostOfMixed = 3

    /// Makes it a job of another kind: each twentieth asks for three notifications, of which one is accepted, one is for
    /// a dead token and one needs a second attempt; others are one of these, or refused.
    fileprivate mutating func mix(_ number: Int) {
        switch number % 20 {
        case 3:
            isRaw = false
            tokenPrefixes += ["dead0410", "fa111503"]
        case 8: tokenPrefixes = ["fa111503"]
        case 13: tokenPrefixes = ["dead0410"]
        case 18: tokenPrefixes = ["bad00413"]
        default: break
        }
    }
}

/// All faults.
enum FaultCatalogue {
    /// Each of them.
    static let all =
        broker + network + results + topology + trust + apns + process + resources + time + load + neighbours
        + operation

    /// Why faults have no neighbour whose latency is judged: what happens happens to every route.
    static let withoutNeighbour: [(why: String, numbers: [Int])] = [
        ("the broker as a whole, or its majority", [1, 2, 3, 7, 8, 11, 12, 13, 14, 21, 26, 53, 155]),
        ("the exchange or the queue of all routes' results", [16, 17, 18]),
        ("the network between worker and broker", [4, 5, 6, 9, 10, 15, 29, 33, 35, 55]),
        ("the worker's login and trust", [25, 27, 28, 56]),
        ("all of the worker's channels", [22]),
        ("the worker's process", [24, 34, 51, 42, 43, 44, 45, 46, 48, 50, 142, 144, 146, 160]),
        ("the worker's machine, its disk and its clock", [41, 47, 49]),
    ]
}
