import FoundationEssentials
internal import Yams

extension Scenario {
    /// The largest scenario file in bytes.
    static let sizeLimit = 1 << 20

    /// Reads a scenario file.
    ///
    /// - Parameter file: The path of a YAML file.
    /// - Throws: ``SimulatorError`` that names every mistake as `file:line:column: …`.
    package init(file: String) throws(SimulatorError) {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw SimulatorError(.file, "cannot read the scenario file \(file)")
        }
        guard data.count <= Self.sizeLimit else {
            throw SimulatorError(.scenario, "\(file): larger than \(Self.sizeLimit) bytes")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw SimulatorError(.scenario, "\(file): not UTF-8 text")
        }
        try self.init(yaml: text, name: file)
    }

    /// Reads the text of a scenario file; `config/scenarios/` shows the form.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - name: What to call it in messages.
    /// - Throws: ``SimulatorError`` that names every mistake as `name:line:column: …`.
    package init(yaml: String, name: String) throws(SimulatorError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            throw SimulatorError(.scenario, "\(name):\(Self.place(of: error))")
        }
        self.init()
        guard let root else { return }
        var decoder = ScenarioDecoder(name: name)
        decoder.read(root, into: &self)
        guard decoder.mistakes.isEmpty else {
            throw SimulatorError(.scenario, decoder.mistakes.joined(separator: "\n"))
        }
    }

    private static func place(of error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(mark.line):\(mark.column): \(problem)"
        case .duplicatedKeysInMapping(let keys, let context):
            "\(context.mark.line):\(context.mark.column): written twice: \(keys.sorted().joined(separator: ", "))"
        default:
            "1:1: not YAML"
        }
    }
}

/// Reads a scenario from YAML nodes and collects all mistakes with their places.
private struct ScenarioDecoder {
    /// What messages call the file.
    let name: String

    /// The mistakes found, in order.
    var mistakes: [String] = []

    /// The keys of a verdict that say what is done; exactly one is wanted, or `delay` alone.
    static let actions = ["accept", "reason", "silent", "reset", "goaway", "close"]

    mutating func read(_ root: Node, into scenario: inout Scenario) {
        for (key, value) in members(of: root, allowed: ["seed", "rules"]) {
            switch key {
            case "seed":
                if let seed = integer(value, in: 0...Int.max) { scenario.seed = UInt64(seed) }
            default:
                guard case .sequence(let rules) = value else {
                    mistake(value, "`rules` is a list")
                    continue
                }
                scenario.rules = rules.map { rule($0) }
            }
        }
    }

    private mutating func rule(_ node: Node) -> Scenario.Rule {
        var rule = Scenario.Rule(sequence: VerdictSequence(.accept))
        var hasVerdict = false
        for (key, value) in members(of: node, allowed: ["name", "match", "verdict"]) {
            switch key {
            case "name": rule.name = text(value) ?? ""
            case "match": match(value, into: &rule)
            default:
                hasVerdict = true
                rule.sequence = verdict(value)
            }
        }
        if !hasVerdict { mistake(node, "a rule needs a `verdict`") }
        return rule
    }

    private mutating func match(_ node: Node, into rule: inout Scenario.Rule) {
        for (key, value) in members(of: node, allowed: ["token", "topic", "ratio", "each"]) {
            switch key {
            case "token":
                guard let prefix = text(value) else { continue }
                if !HexText.isHex(prefix.utf8) { mistake(value, "`token` is the first hexadecimal digits of a token") }
                rule.tokenPrefix = prefix.lowercased()
            case "topic": rule.topic = text(value)
            case "ratio":
                guard let ratio = text(value).flatMap(Double.init), (0...1).contains(ratio) else {
                    mistake(value, "`ratio` is a number from 0 to 1")
                    continue
                }
                rule.ratio = ratio
            default: rule.draw = choice(value, named: "each") ?? .device
            }
        }
    }

    private mutating func verdict(_ node: Node) -> VerdictSequence {
        let allowed = Self.actions + ["delay", "fail", "status", "timestamp", "retry_after"]
        let fields = Dictionary(members(of: node, allowed: allowed), uniquingKeysWith: { first, _ in first })
        let chosen = Self.actions.filter { fields[$0] != nil }
        if chosen.count > 1 {
            mistake(node, "one of these at a time: \(chosen.joined(separator: ", "))")
        } else if chosen.isEmpty, fields["delay"] == nil {
            mistake(node, "a verdict says one of \(Self.actions.joined(separator: ", ")), or a `delay`")
        }
        for key in ["status", "timestamp", "retry_after"] where chosen != ["reason"] {
            if let value = fields[key] { mistake(value, "`\(key)` goes with `reason` only") }
        }
        var verdict = Verdict(action(chosen.first ?? "accept", fields: fields))
        if let value = fields["delay"] { verdict.delay = milliseconds(value) ?? 0 }
        let count = fields["fail"].flatMap { integer($0, in: 1...1_000_000) }
        return VerdictSequence(verdict, count: count)
    }

    private mutating func action(_ key: String, fields: [String: Node]) -> Verdict.Action {
        guard let value = fields[key] else { return .accept }
        switch key {
        case "reason": return refusal(value, fields: fields)
        case "reset": return code(value).map { .reset($0) } ?? .accept
        case "goaway": return .goAway(goAway(value))
        default:
            if text(value) != "true" { mistake(value, "write `\(key): true`, or leave it out") }
            return key == "silent" ? .silent : key == "close" ? .close : .accept
        }
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

    private mutating func goAway(_ node: Node) -> Verdict.GoAway {
        var frame = Verdict.GoAway(reach: .accepted)
        for (key, value) in members(of: node, allowed: ["code", "reason", "reach"]) {
            switch key {
            case "code": frame.code = code(value) ?? 0
            case "reason": frame.reason = text(value)
            default: frame.reach = choice(value, named: "reach") ?? .accepted
            }
        }
        return frame
    }
}

extension ScenarioDecoder {
    private mutating func mistake(_ node: Node, _ message: String) {
        mistakes.append("\(name):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1): \(message)")
    }

    private mutating func members(of node: Node, allowed: [String]) -> [(String, Node)] {
        guard case .mapping(let mapping) = node else {
            mistake(node, "expected a mapping with \(allowed.joined(separator: ", "))")
            return []
        }
        var members: [(String, Node)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string, allowed.contains(name) else {
                let unknown = key.scalar?.string ?? "this"
                mistake(key, "unknown key \(unknown); known here: \(allowed.joined(separator: ", "))")
                continue
            }
            if members.contains(where: { $0.0 == name }) { mistake(key, "\(name) is written twice") }
            members.append((name, value))
        }
        return members
    }

    private mutating func text(_ node: Node) -> String? {
        guard let scalar = node.scalar else {
            mistake(node, "expected one value, not a list or mapping")
            return nil
        }
        return scalar.string
    }

    private mutating func integer(_ node: Node, in range: ClosedRange<Int>) -> Int? {
        guard let number = text(node).flatMap({ Int($0) }), range.contains(number) else {
            let upper = range.upperBound == Int.max ? "up" : "to \(range.upperBound)"
            mistake(node, "expected a whole number from \(range.lowerBound) \(upper)")
            return nil
        }
        return number
    }

    private mutating func milliseconds(_ node: Node) -> Int? {
        guard let written = text(node) else { return nil }
        let units = [("ms", 1), ("s", 1000), ("m", 60_000)]
        for (unit, factor) in units where written.hasSuffix(unit) {
            guard let number = Double(written.dropLast(unit.count)), number >= 0, number <= 86_400 else { break }
            return Int(number * Double(factor))
        }
        mistake(node, "a delay has a unit: 250ms, 2s, 1m")
        return nil
    }

    private mutating func code(_ node: Node) -> UInt32? {
        guard let code = text(node).flatMap(HTTP2CodeName.code(of:)) else {
            mistake(node, "expected an HTTP/2 error code such as REFUSED_STREAM")
            return nil
        }
        return code
    }

    private mutating func choice<Choice>(_ node: Node, named key: String) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = text(node).flatMap(Choice.init(rawValue:)) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            mistake(node, "`\(key)` is one of \(known)")
            return nil
        }
        return choice
    }
}
