import Text

/// Chooses the verdict of each valid push: a device token's own prefix first, then the scenario's rules, else 200.
///
/// A value without clock or lock. It remembers how many failures of a counted sequence each device has had.
struct VerdictChooser {
    /// How many (device, rule) pairs with a counted sequence are remembered. Devices beyond this number skip their
    /// failures.
    static let rememberedLimit = 1_000_000

    /// Whether device token prefixes choose verdicts.
    private let usesPrefixes: Bool

    private let scenario: Scenario
    private var generator: SplitMix64
    private var progress: [Step: Int] = [:]
    private var throttles: [Int: DeviceThrottle] = [:]
    private var start: Int64

    private struct Step: Hashable {
        var rule: Int
        var token: [UInt8]
    }

    /// Makes a chooser.
    ///
    /// - Parameters:
    ///   - scenario: The rules.
    ///   - usesPrefixes: Whether device token prefixes choose verdicts.
    ///   - start: When the scenario begins, in milliseconds since 1970.
    init(scenario: Scenario, usesPrefixes: Bool, start: Int64 = 0) {
        self.start = start
        self.scenario = scenario
        self.usesPrefixes = usesPrefixes
        generator = SplitMix64(seed: scenario.seed)
    }

    /// Forgets how far devices are and starts the scenario again.
    ///
    /// - Parameter start: When it begins, in milliseconds since 1970.
    mutating func reset(start: Int64 = 0) {
        self.start = start
        progress.removeAll()
        throttles.removeAll()
        generator = SplitMix64(seed: scenario.seed)
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - push: A push that broke no rule.
    ///   - now: Milliseconds since 1970.
    ///   - address: The address of the gateway that the client connected to.
    /// - Returns: What to do with it.
    mutating func verdict(for push: ValidPush, now: Int64, address: String = "") -> Verdict {
        var verdict = choose(for: push, now: now, address: address)
        if let latency = verdict.latency { verdict.delay = latency.draw(using: &generator) }
        return verdict
    }

    private mutating func choose(for push: ValidPush, now: Int64, address: String) -> Verdict {
        if usesPrefixes, let sequence = DeviceTokenPrefix.sequence(of: push.token, now: now) {
            return next(of: sequence, rule: -1, token: push.token)
        }
        for (index, rule) in scenario.rules.enumerated() {
            if let wanted = rule.address, wanted != address { continue }
            if let window = rule.window, !window.contains(now - start) { continue }
            guard matches(rule, index: index, push: push) else { continue }
            // Counted last, so that the rate counts only pushes that match the rule.
            if let rate = rule.beyond,
                throttles[index, default: DeviceThrottle()].admits(push.token, now: now, rate: rate)
            {
                continue
            }
            return next(of: rule.sequence, rule: index, token: push.token)
        }
        return .accept
    }

    private mutating func matches(_ rule: Scenario.Rule, index: Int, push: ValidPush) -> Bool {
        if !rule.tokenPrefix.isEmpty {
            let prefix = rule.tokenPrefix.utf8
            guard push.token.count >= prefix.count, zip(push.token, prefix).allSatisfy({ Self.lower($0) == $1 }) else {
                return false
            }
        }
        if let topic = rule.topic, topic != push.topic { return false }
        if rule.ratio >= 1 { return true }
        switch rule.draw {
        case .push:
            return generator.fraction() < rule.ratio
        case .device:
            let seed = scenario.seed &+ UInt64(index)
            let digits = push.token.map(Self.lower)
            var device = SplitMix64(seed: StableHash.of(digits.span, seed: seed))
            return device.fraction() < rule.ratio
        }
    }

    private mutating func next(of sequence: VerdictSequence, rule: Int, token: [UInt8]) -> Verdict {
        guard let count = sequence.count else { return sequence.first }
        let step = Step(rule: rule, token: token)
        let index = progress[step] ?? 0
        if index < count {
            guard index > 0 || progress.count < Self.rememberedLimit else { return sequence.then }
            progress[step] = index + 1
        }
        return sequence.verdict(at: index)
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
