import LocalStack
import Rig

@testable import APNSSimulator

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
    /// More lines of the workers' configuration.
    var settings = ""
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
        neighbour ? apps + [FaultNeighbour.app] : apps
    }

    /// New jobs for its apps.
    ///
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

    /// Makes it a job of another kind: each twentieth asks for three notifications, of which one is accepted, one is
    /// for a dead token and one needs a second attempt; others are one of these, or refused.
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
