/// Chooses the verdict of each valid push: a device token's own prefix first, then the scenario's rules, else 200.
///
/// A value without clock or lock; it remembers how far each device is in a sequence of failures.
struct VerdictChooser {
    /// How many (device, rule) pairs with a counted sequence are remembered. Devices beyond it skip their failures.
    static let rememberedLimit = 1_000_000

    /// Whether device token prefixes choose verdicts.
    private let usesPrefixes: Bool

    private let scenario: Scenario
    private var generator: SplitMix64
    private var progress: [Step: Int] = [:]

    private struct Step: Hashable {
        var rule: Int
        var token: [UInt8]
    }

    /// Makes a chooser.
    ///
    /// - Parameters:
    ///   - scenario: The rules.
    ///   - usesPrefixes: Whether device token prefixes choose verdicts.
    init(scenario: Scenario, usesPrefixes: Bool) {
        self.scenario = scenario
        self.usesPrefixes = usesPrefixes
        generator = SplitMix64(seed: scenario.seed)
    }

    /// Forgets how far devices are and starts the randomness again.
    mutating func reset() {
        progress.removeAll()
        generator = SplitMix64(seed: scenario.seed)
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - push: A push that broke no rule.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do with it.
    mutating func verdict(for push: ValidPush, now: Int64) -> Verdict {
        if usesPrefixes, let sequence = DeviceTokenPrefix.sequence(of: push.token, now: now) {
            return next(of: sequence, rule: -1, token: push.token)
        }
        for (index, rule) in scenario.rules.enumerated() where matches(rule, index: index, push: push) {
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
            var device = SplitMix64(seed: Fingerprint.of(push.token.map(Self.lower), seed: seed))
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
