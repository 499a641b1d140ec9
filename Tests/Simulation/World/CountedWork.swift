import EventLoop

/// A world without chaos, whose worker's instructions are counted from outside.
package enum CountedWork: String, CaseIterable {
    /// A raw job for each notification.
    case raw
    /// An enveloped job for each notification.
    case enveloped
    /// Jobs of a hundred notifications.
    case multicast

    private static let yaml = """
        credentials:
          - { name: key, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
        routes:
          - { name: shop, environment: production, topics: [com.example.shop], credential: key }
        """

    /// Lets a worker push so many notifications.
    ///
    /// - Throws: `World.Finding` unless each is accepted.
    package func run(notifications count: Int) throws {
        let world = try World(seed: 1, version: .release43, yaml: Self.yaml)
        let jobs = Jobs(world)
        var left = count
        while left > 0 {
            let size = self == .multicast ? min(100, left) : 1
            let tokens = (0..<size).map { Self.token(left - $0) }
            jobs.publish(
                Jobs.Wish(tokens: tokens, topic: "com.example.shop", isEnveloped: self != .raw))
            left -= size
        }
        try world.addWorker().start()
        let last = world.now + .seconds(3_600)
        while !jobs.open.isEmpty, try world.step(until: last) { try jobs.takeResults() }
        try Judge(world: world, jobs: jobs, mostAttempts: 1, routes: 1).judge()
    }

    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "600d0000" + String(repeating: "0", count: 56 - digits.count) + digits
    }
}
