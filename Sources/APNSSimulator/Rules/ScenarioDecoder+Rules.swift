import Text
import Yams

/// Rules for pushes.
extension ScenarioDecoder {
    /// Reads a rule for pushes.
    ///
    /// - Parameter node: The mapping.
    /// - Returns: The rule.
    mutating func rule(_ node: Node) -> Scenario.Rule {
        var rule = Scenario.Rule(sequence: VerdictSequence(.accept))
        var hasVerdict = false
        for (key, value) in members(of: node, allowed: ScenarioKeys.rule) {
            switch key {
            case "name": rule.name = text(value) ?? ""
            case "match": match(value, into: &rule)
            case "when": rule.window = window(value)
            default:
                hasVerdict = true
                rule.sequence = verdict(value)
            }
        }
        if !hasVerdict { mistake(node, "a rule needs a `verdict`") }
        return rule
    }

    private mutating func match(_ node: Node, into rule: inout Scenario.Rule) {
        for (key, value) in members(of: node, allowed: ScenarioKeys.match) {
            switch key {
            case "token":
                guard let prefix = text(value) else { continue }
                if !HexText.isHex(prefix.utf8) { mistake(value, "`token` is the first hexadecimal digits of a token") }
                rule.tokenPrefix = prefix.lowercased()
            case "topic": rule.topic = text(value)
            case "address": rule.address = text(value)
            case "ratio": rule.ratio = ratio(value) ?? rule.ratio
            case "beyond": rule.beyond = rate(value)
            default: rule.draw = choice(value, named: "each") ?? .device
            }
        }
    }

    private mutating func verdict(_ node: Node) -> VerdictSequence {
        let fields = fields(of: node, allowed: ScenarioKeys.verdict)
        let chosen = ScenarioKeys.actions.filter { fields[$0] != nil }
        if chosen.count > 1 {
            mistake(node, "one of these at a time: \(chosen.joined(separator: ", "))")
        } else if chosen.isEmpty, fields["delay"] == nil, fields["streams"] == nil {
            mistake(
                node,
                "a verdict says one of \(ScenarioKeys.actions.joined(separator: ", ")), or a `delay`, or `streams`")
        }
        for key in ["status", "timestamp", "retry_after"] where chosen != ["reason"] {
            if let value = fields[key] { mistake(value, "`\(key)` goes with `reason` only") }
        }
        var verdict = Verdict(action(chosen.first ?? "accept", fields: fields))
        if let value = fields["delay"] { delay(value, into: &verdict) }
        verdict.streams = fields["streams"].flatMap { integer($0, in: 0...1_000_000) }.map { UInt32($0) }
        let count = fields["fail"].flatMap { integer($0, in: 1...1_000_000) }
        return VerdictSequence(verdict, count: count)
    }

    private mutating func delay(_ node: Node, into verdict: inout Verdict) {
        guard case .mapping = node else {
            verdict.delay = milliseconds(node) ?? 0
            return
        }
        var times: [String: Int] = [:]
        for (key, value) in members(of: node, allowed: ScenarioKeys.latency) { times[key] = milliseconds(value) ?? 0 }
        switch Set(times.keys) {
        case ["min", "max"]:
            let (low, high) = (times["min"] ?? 0, times["max"] ?? 0)
            if high < low { mistake(node, "`max` is not less than `min`") }
            verdict.latency = .uniform(min: low, max: max(low, high))
        case ["mean"]: verdict.latency = .exponential(mean: times["mean"] ?? 0)
        case ["median", "p99"]:
            verdict.latency = .logNormal(median: times["median"] ?? 0, percentile99: times["p99"] ?? 0)
        default: mistake(node, "a drawn delay says `min` and `max`, or `mean`, or `median` and `p99`")
        }
    }

    private mutating func action(_ key: String, fields: [String: Node]) -> Verdict.Action {
        guard let value = fields[key] else { return .accept }
        switch key {
        case "reason": return refusal(value, fields: fields)
        case "reset": return code(value).map { .reset($0) } ?? .accept
        case "goaway": return .goAway(goAway(value, allowed: ScenarioKeys.goAway))
        case "lose": return .lose(choice(value, named: "lose") ?? .silent)
        case "gateway": return .gateway(stranger(value))
        case "freeze":
            if value.scalar?.string == "true" { return .freeze(milliseconds: nil) }
            return .freeze(milliseconds: milliseconds(value))
        default:
            if text(value) != "true" { mistake(value, "write `\(key): true`, or leave it out") }
            return key == "silent" ? .silent : key == "close" ? .close : .accept
        }
    }

    private mutating func stranger(_ node: Node) -> Verdict.Stranger {
        let fields = fields(of: node, allowed: ScenarioKeys.gateway)
        if fields["status"] == nil { mistake(node, "`gateway` says its `status`") }
        let status = fields["status"].flatMap { integer($0, in: 200...599) }
        return Verdict.Stranger(status: status ?? 502, body: fields["body"].flatMap { text($0) } ?? "")
    }

    private mutating func refusal(_ node: Node, fields: [String: Node]) -> Verdict.Action {
        guard let reason = text(node) else { return .accept }
        var refusal = Refusal.documented(reason: reason) ?? Refusal(0, reason)
        if let status = fields["status"].flatMap({ integer($0, in: 400...599) }) { refusal.status = status }
        if refusal.status == 0 { mistake(node, "Apple documents no reason \(reason); say its `status` too") }
        refusal.timestamp = fields["timestamp"].flatMap { integer($0, in: 0...Int.max) }.map(Int64.init)
        refusal.retryAfter = fields["retry_after"].flatMap { integer($0, in: 0...86_400) }
        return .refuse(refusal)
    }

    /// Reads a GOAWAY frame.
    ///
    /// - Parameters:
    ///   - node: The mapping.
    ///   - allowed: The keys it may have; keys that do not describe the frame are skipped.
    /// - Returns: The frame.
    mutating func goAway(_ node: Node, allowed: [String]) -> Verdict.GoAway {
        var frame = Verdict.GoAway(reach: .accepted)
        for (key, value) in members(of: node, allowed: allowed) {
            switch key {
            case "code": frame.code = code(value) ?? 0
            case "reason": frame.reason = text(value)
            case "text": frame.text = text(value)
            case "twice": frame.isRepeated = flag(value)
            case "stay_open": frame.staysOpen = flag(value)
            case "reach": frame.reach = choice(value, named: "reach") ?? .accepted
            default: break
            }
        }
        return frame
    }
}

/// Rules for connections.
extension ScenarioDecoder {
    /// Reads a rule for connections.
    ///
    /// - Parameter node: The mapping.
    /// - Returns: The rule.
    mutating func connection(_ node: Node) -> ConnectionRule {
        var rule = ConnectionRule()
        for (key, value) in members(of: node, allowed: ScenarioKeys.connection) {
            switch key {
            case "name": rule.name = text(value) ?? ""
            case "match": match(value, into: &rule)
            case "when": rule.window = window(value)
            case "refuse": rule.plan.isRefused = flag(value)
            case "mute": rule.plan.isMute = flag(value)
            case "round_trip": rule.plan.roundTrip = milliseconds(value) ?? 0
            case "certificate": rule.plan.certificate = choice(value, named: key)
            case "streams": rule.plan.streams = integer(value, in: 0...1_000_000).map { UInt32($0) }
            case "idle_timeout": rule.plan.idleTimeout = milliseconds(value).map(Int64.init)
            case "goaway": rule.plan.goodbye = goodbye(value)
            default: rule.plan.closeAfter = milliseconds(value).map(Int64.init)
            }
        }
        return rule
    }

    private mutating func match(_ node: Node, into rule: inout ConnectionRule) {
        for (key, value) in members(of: node, allowed: ScenarioKeys.connectionMatch) {
            switch key {
            case "address": rule.address = text(value)
            case "ratio": rule.ratio = ratio(value) ?? rule.ratio
            default: rule.first = integer(value, in: 1...1_000_000)
            }
        }
    }

    private mutating func goodbye(_ node: Node) -> ConnectionPlan.Goodbye {
        var goodbye = ConnectionPlan.Goodbye(frame: goAway(node, allowed: ScenarioKeys.goodbye))
        guard case .mapping(let mapping) = node else { return goodbye }
        for (key, value) in mapping {
            switch key.scalar?.string {
            case "after": goodbye.milliseconds = milliseconds(value).map(Int64.init)
            case "after_pushes": goodbye.pushes = integer(value, in: 1...1_000_000_000)
            default: break
            }
        }
        if goodbye.milliseconds == nil, goodbye.pushes == nil {
            mistake(node, "this `goaway` says `after` or `after_pushes`")
        }
        return goodbye
    }
}
