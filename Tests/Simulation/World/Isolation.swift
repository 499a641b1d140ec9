import EventLoop
import Text

/// Whether a healthy route notices a sick one: the same jobs, without the sick route's and with them.
package struct Isolation {
    /// How device tokens of the sick route begin: no answer, 503, 429, a reset, a connection that ends, an answer after
    /// ten seconds.
    private static let illnesses = ["0ff00000", "bad01503", "bad01429", "c0de0002", "c105ed00", "de1a009999"]
    /// How many times longer the median may be, and what is always allowed.
    private static let most = (times: 2.0, always: 0.005)

    /// Whether this is tried with a seed, too.
    package static func isDue(_ seed: UInt64) -> Bool { seed.isMultiple(of: 8) }

    private let seed: UInt64

    /// Takes a seed.
    package init(seed: UInt64) { self.seed = seed }

    /// Runs both worlds.
    ///
    /// - Throws: `World.Finding`.
    package func run() throws {
        let illness = Self.illnesses[Int(seed / 8) % Self.illnesses.count]
        let (alone, beside) = (try median(beside: nil), try median(beside: illness))
        guard beside > max(alone * Self.most.times, alone + Self.most.always) else { return }
        throw World.Finding(
            description: "a healthy route took \(beside) s instead of \(alone) s beside one whose tokens begin with "
                + illness)
    }

    /// The median of the seconds that the healthy route's jobs took.
    private func median(beside illness: String?) throws -> Double {
        let world = try World(seed: seed, version: .release43, yaml: Simulation.yaml)
        defer { world.end() }
        let jobs = Jobs(world)
        var random = SplitMix64(seed: seed)
        try world.addWorker().start()
        let end = world.now + .seconds(60)
        var (next, number) = (world.now, 0)
        while world.now < end {
            if world.now >= next {
                number += 1
                jobs.publish(Jobs.Wish(tokens: [Self.token("600d0000", number)], topic: "com.example.shop"))
                next = world.now + .milliseconds(Int.random(in: 1...60, using: &random))
                if let illness {
                    jobs.publish(Jobs.Wish(tokens: [Self.token(illness, -number)], topic: "com.example.bank"))
                }
            }
            _ = try world.step(until: min(end, next))
            try jobs.takeResults()
        }
        let took = jobs.all.values.compactMap { job in
            job.wish.route == "shop" ? job.answeredAt.map { Double($0.nanoseconds(since: job.publishedAt)) / 1e9 } : nil
        }.sorted()
        guard took.count * 10 > number * 9 else {
            throw World.Finding(description: "a healthy route had \(took.count) of \(number) results after a minute")
        }
        return took[took.count / 2]
    }

    private static func token(_ head: String, _ number: Int) -> String {
        let digits = String(UInt64(bitPattern: Int64(number)), radix: 16)
        return head + String(repeating: "0", count: 64 - head.count - digits.count) + digits
    }
}
