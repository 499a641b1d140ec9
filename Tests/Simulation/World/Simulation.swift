import EventLoop

/// One run of a world: its plan is drawn from the seed, carried out, and judged.
package struct Simulation {
    /// What a run did.
    package struct Report {
        /// Virtual seconds.
        package var seconds = 0.0
        package var events = 0
        package var turns = 0
        package var jobs = 0
        package var results = 0
        package var kills = 0
        package var cuts = 0
        package var digest: UInt64 = 0
    }

    private static let yaml = """
        lanes: 1
        credentials:
          - { name: key, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
        routes:
          - { name: shop, environment: production, topics: [com.example.shop], credential: key, high_lane: true }
          - { name: bank, environment: production, topics: [com.example.bank], credential: key }
        """
    private static let topics = ["com.example.shop", "com.example.bank"]
    /// How long everything may take to end once chaos has stopped.
    private static let patience = Duration.seconds(7_200)

    private let world: World
    private let jobs: Jobs
    private var report = Report()

    /// Makes the world of a seed.
    ///
    /// - Parameter seed: The seed.
    package init(seed: UInt64) throws {
        let version = ModelBroker.Version.allCases[Int(seed % 3)]
        world = try World(seed: seed, version: version, yaml: Self.yaml)
        jobs = Jobs(world)
    }

    /// Runs it to its end.
    ///
    /// - Returns: What happened.
    /// - Throws: `World.Finding`.
    package mutating func run() throws -> Report {
        let start = world.now
        for _ in 0..<2 { try world.addWorker().start() }
        let chaos = Chaos(world)
        let end = world.now + .seconds(world.draw(20...120))
        var nextJob = world.now
        while world.now < end {
            if world.now >= nextJob {
                publish()
                nextJob = world.now + .milliseconds(world.draw(1...200))
            }
            _ = try world.step(until: min(end, nextJob))
            try jobs.takeResults()
            try chaos.goOn()
        }
        try chaos.stop()
        try world.run(for: Self.patience) {
            !jobs.open.isEmpty && (try? jobs.takeResults()) != nil
        }
        try judge()
        report.seconds = Double(world.now.nanoseconds(since: start)) / 1e9
        report.events = world.events
        report.turns = world.workers.reduce(0) { $0 + $1.turns }
        (report.jobs, report.results, report.digest) = (jobs.all.count, jobs.resultCount, world.digest)
        (report.kills, report.cuts) = (chaos.kills, chaos.cuts)
        return report
    }

    private func publish() {
        let count = world.happens(onceIn: 8) ? world.draw(2...40) : 1
        let tokens = (0..<count).map { _ in token() }
        jobs.publish(tokens, topic: Self.topics[world.draw(0...1)], isHigh: world.happens(onceIn: 4))
    }

    private func token() -> String {
        let digits = Array("0123456789abcdef".utf8)
        let rest = String(decoding: (0..<54).map { _ in digits[world.draw(0...15)] }, as: UTF8.self)
        let head =
            switch world.draw(1...100) {
            case 1...2: "dead0410aa"
            case 3: "fa112503aa"
            case 4: "bad01400aa"
            case 5: "de1a002000"
            case 6: "fa11100700"
            default: "600d000000"
            }
        return head + rest
    }

    private func judge() throws {
        try jobs.takeResults()
        guard jobs.open.isEmpty else {
            let some = jobs.open.sorted().prefix(5).map { id in "\(id) \(jobs.all[id]?.missing.prefix(3) ?? [])" }
            throw World.Finding(
                description: "\(jobs.open.count) confirmed jobs have no result: \(some.joined(separator: ", "))")
        }
    }
}
