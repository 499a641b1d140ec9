/// What a worker's ``DeadTokenWatch`` has learned about a route's dead tokens, as the worker's reports carry it.
package struct DeadTokenKnowledge: Sendable, Equatable, Codable {
    /// How many answers the worker has heard since its start that accepted a push or called a token dead.
    package var answers: Int
    /// The share of dead tokens among the latest answers, 0...1.
    package var latest: Double
    /// The share of dead tokens that is usual for the route, 0...1.
    package var usual: Double
    /// Whether results say `hold` instead of `drop_token`.
    package var holds: Bool
    /// Whether an operator trusts the present dead tokens.
    package var isTrusted: Bool

    /// Makes knowledge from its parts.
    package init(answers: Int, latest: Double, usual: Double, holds: Bool = false, isTrusted: Bool = false) {
        self.answers = answers
        self.latest = Self.rounded(latest)
        self.usual = Self.rounded(usual)
        self.holds = holds
        self.isTrusted = isTrusted
    }

    /// Whether both shares are within 0...1, and the number of answers is small enough to be added up.
    var isPossible: Bool {
        (0...WorkerReport.greatestNumber).contains(answers) && (0...1).contains(latest) && (0...1).contains(usual)
    }

    /// Rounds a share to four digits: reports are short, and a fifth digit says nothing.
    private static func rounded(_ share: Double) -> Double { (share * 10_000).rounded() / 10_000 }
}

// What a new worker begins with.
extension DeadTokenKnowledge {
    /// The most answers that weigh in a usual share. A worker that heard more answers has forgotten the first of them.
    private static let usualAnswers = DeadTokenWatch.latest * DeadTokenWatch.history

    /// What a new worker begins with, from what each worker of its fleet knows; nil for an empty fleet.
    ///
    /// - If any worker holds, the new worker holds, unless the workers that neither hold nor trust have more answers
    ///   than all others. Only the latest answers count. So a worker that has pushed for months weighs no more than a
    ///   worker that began a minute ago.
    /// - The same rule applies to trust. Between a hold and trust the answers decide, and a hold wins a tie.
    /// - The usual share is the mean of the workers' usual shares, weighted by answers.
    ///
    /// - Parameter fleet: What each worker knows.
    init?(of fleet: [DeadTokenKnowledge]) {
        guard !fleet.isEmpty else { return nil }
        let holding = fleet.filter(\.holds)
        let trusting = fleet.filter { !$0.holds && $0.isTrusted }
        let others = fleet.filter { !$0.holds && !$0.isTrusted }
        let votes = (holding: Self.votes(holding), trusting: Self.votes(trusting), others: Self.votes(others))
        let side: [DeadTokenKnowledge]
        if others.count == fleet.count || votes.others > votes.holding + votes.trusting {
            side = others
        } else {
            side = holding.isEmpty || votes.trusting > votes.holding ? trusting : holding
        }
        let isUnusual = side[0].holds || side[0].isTrusted
        self.init(
            // A hold must not end with the first live token, even if no worker has had many answers since the hold
            // began. So the share gets the weight of many answers.
            answers: isUnusual ? Int(DeadTokenWatch.latest) : Int(min(Self.votes(side), DeadTokenWatch.latest)),
            latest: Self.mean(of: side.map { ($0.latest, weight: $0.weight(upTo: DeadTokenWatch.latest)) }),
            usual: Self.mean(of: fleet.map { ($0.usual, weight: $0.weight(upTo: Self.usualAnswers)) }),
            holds: side[0].holds, isTrusted: !side[0].holds && side[0].isTrusted)
    }

    private func weight(upTo limit: Double) -> Double { min(Double(answers), limit) }

    private static func votes(_ workers: [DeadTokenKnowledge]) -> Double {
        workers.reduce(0) { $0 + $1.weight(upTo: DeadTokenWatch.latest) }
    }

    /// The weighted mean; the plain mean if all weights are 0.
    private static func mean(of shares: [(share: Double, weight: Double)]) -> Double {
        let weight = shares.reduce(0) { $0 + $1.weight }
        guard weight > 0 else { return shares.reduce(0) { $0 + $1.share } / Double(shares.count) }
        return shares.reduce(0) { $0 + $1.share * $1.weight } / weight
    }
}
