import EventLoop
import Text

/// One run of a world: what its seed draws is carried out and judged.
package final class Simulation {
    /// What a run did.
    package struct Report {
        /// Virtual seconds.
        package var seconds = 0.0
        package var events = 0
        package var turns = 0
        package var jobs = 0
        package var results = 0
        package var faults = 0
        package var kills = 0
        /// Equal for equal runs.
        package var digest: UInt64 = 0

        package init() {}
    }

    static let yaml = """
        retry: { max_attempts: 4, max_age: 10m, tiers: [2s, 15s, 1m] }
        credentials:
          - { name: key, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
        routes:
          - { name: shop, environment: production, topics: [com.example.shop], credential: key, high_lane: true }
          - { name: bank, environment: production, topics: [com.example.bank], credential: key }
        """
    /// Memory for jobs that is soon full, in bytes.
    private static let scarceMemory = 24 << 10
    private static let topics = ["com.example.shop", "com.example.bank"]
    /// How long everything may take to end once chaos has stopped. A delivery that a worker forgot would come back after
    /// half an hour, by the broker's consumer timeout, and nobody would notice.
    private static let patience = Duration.seconds(20 * 60)

    private let world: World
    private let jobs: Jobs
    private let chaos: Chaos
    /// Whether there are notifications that APNs never takes: a GOAWAY comes before each. Each costs its route minutes, so
    /// they are few.
    private let hasPoison: Bool
    private var random: SplitMix64

    /// Makes the world of a seed.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - skipping: The faults that are left out, by their numbers.
    ///   - traced: How many of the latest events are kept in words.
    package init(seed: UInt64, skipping: Set<Int> = [], traced: Int = 0) throws {
        let version = ModelBroker.Version.allCases[Int(seed % 3)]
        world = try World(
            seed: seed, version: version, yaml: Self.yaml, memory: seed % 4 == 1 ? Self.scarceMemory : nil)
        if traced > 0 { world.trace = Trace(length: traced) }
        jobs = Jobs(world)
        hasPoison = seed.isMultiple(of: 4)
        chaos = Chaos(world, seed: seed, skipping: skipping)
        random = SplitMix64(seed: seed ^ 0x6a6f_6273)
    }

    /// The latest events in words; empty where they are not kept.
    package var trace: String { world.trace?.text ?? "" }

    /// How many faults there were, with those that were left out.
    package var faults: Int { chaos.count }

    /// Runs it to its end.
    ///
    /// - Returns: What happened.
    /// - Throws: `World.Finding`.
    package func run() throws -> Report {
        let start = world.now
        defer { world.end() }
        for _ in 0..<2 { try world.addWorker().start() }
        let end = world.now + .seconds(draw(20...120))
        var nextJob = world.now
        while world.now < end {
            if world.now >= nextJob {
                jobs.publish(wish())
                nextJob = world.now + .milliseconds(draw(1...200))
            }
            _ = try world.step(until: min(end, nextJob))
            try jobs.takeResults()
            chaos.goOn()
        }
        try chaos.stop()
        let last = world.now + Self.patience
        while !jobs.open.isEmpty || world.broker.hasUnsettled, try world.step(until: last) { try jobs.takeResults() }
        guard !world.broker.hasUnsettled else {
            throw World.Finding(description: "a worker forgot deliveries: it neither settles them nor gives them back")
        }
        try Judge(world: world, jobs: jobs, mostAttempts: 4, routes: 2).judge()
        var report = Report()
        report.seconds = Double(world.now.nanoseconds(since: start)) / 1e9
        report.turns = world.workers.reduce(0) { $0 + $1.turns }
        (report.events, report.jobs, report.results) = (world.events, jobs.all.count, jobs.resultCount)
        (report.faults, report.kills, report.digest) = (chaos.count, chaos.kills, world.digest)
        return report
    }

    private func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private func wish() -> Jobs.Wish {
        let count = draw(1...8) == 1 ? draw(2...40) : 1
        var wish = Jobs.Wish(tokens: (0..<count).map { _ in token() }, topic: Self.topics[draw(0...1)])
        wish.isHigh = draw(1...4) == 1
        wish.reportsUnknown = draw(1...4) == 1
        if draw(1...4) == 1 { wish.reference = "campaign-\(draw(0...3))-\(draw(0...9))" }
        if draw(1...10) == 1 { wish.replyTo = Jobs.replyQueues[draw(0...1)] }
        guard count == 1 else { return wish }
        switch draw(1...20) {
        case 1: wish.notBefore = world.time.truth + Int64(draw(-5_000...60_000))
        case 2: wish.deadline = world.time.truth + Int64(draw(-2_000...20_000))
        default: break
        }
        return wish
    }

    private func token() -> String {
        let head =
            switch draw(1...200) {
            case 1...4: "dead0410aa"
            case 5...6: "fa112503aa"
            case 7...8: "bad01400aa"
            case 9...12: "de1a002000"
            case 13...14: "fa11100700"
            case 15: "fa11100000"
            case 16 where hasPoison && draw(1...8) == 1: "90a1000000"
            case 17: "90a0000000"
            case 18: "c0de000800"
            default: "600d000000"
            }
        let digits = Array("0123456789abcdef".utf8)
        return head + String(decoding: (0..<54).map { _ in digits[draw(0...15)] }, as: UTF8.self)
    }
}
