import Text
import Yams

/// Reads a scenario from YAML nodes and collects all mistakes with their places.
struct ScenarioDecoder {
    /// The most items of each list in a scenario. Rules need a limit because a push may be compared with all of them.
    static let ruleLimit = 1000

    /// What messages call the file.
    let name: String

    /// The mistakes found, in order.
    var mistakes: [String] = []

    /// Starts without mistakes.
    ///
    /// - Parameter name: What messages call the file.
    init(name: String) { self.name = name }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - root: The file's node.
    ///   - scenario: Gets what it says.
    mutating func read(_ root: Node, into scenario: inout Scenario) {
        for (key, value) in members(of: root, allowed: ScenarioKeys.file) {
            switch key {
            case "seed":
                if let seed = integer(value, in: 0...Int.max) { scenario.seed = UInt64(seed) }
            case "listen": scenario.addresses = list(value, named: key).compactMap { text($0) }
            case "limits": scenario.limits = limits(value)
            case "connections": scenario.connections = list(value, named: key).map { connection($0) }
            default: scenario.rules = list(value, named: key).map { rule($0) }
            }
        }
    }

    /// Reads what the gateway tolerates.
    ///
    /// - Parameter node: The mapping.
    /// - Returns: The limits; a limit that is left out keeps its default.
    mutating func limits(_ node: Node) -> GatewayLimits {
        var limits = GatewayLimits()
        for (key, value) in members(of: node, allowed: ScenarioKeys.limits) {
            switch key {
            case "idle_timeout": limits.idleTimeout = milliseconds(value).map(Int64.init)
            case "device_pushes": limits.devicePushes = rate(value)
            case "channel_requests": limits.broadcastChannelRequests = rate(value)
            case "token_update_interval": limits.tokenUpdateInterval = milliseconds(value).map(Int64.init) ?? 0
            default:
                guard let number = integer(value, in: 0...1_000_000) else { continue }
                switch key {
                case "errors_until_shrink": limits.errorsUntilShrink = number
                case "errors_until_disconnect": limits.errorsUntilDisconnect = number
                case "bad_device_token_weight": limits.badDeviceTokenWeight = number
                case "connections_per_minute": limits.connectionsPerMinute = number
                default: limits.headerList = number
                }
            }
        }
        return limits
    }

    /// Reads a number of pushes in a span of time.
    ///
    /// - Parameter node: The mapping.
    /// - Returns: The rate, nil where it is a mistake.
    mutating func rate(_ node: Node) -> GatewayLimits.Rate? {
        let fields = fields(of: node, allowed: ScenarioKeys.rate)
        guard let count = fields["pushes"], let period = fields["per"] else {
            mistake(node, "a rate says `pushes` and `per`")
            return nil
        }
        guard let pushes = integer(count, in: 0...1_000_000), let milliseconds = milliseconds(period) else {
            return nil
        }
        return GatewayLimits.Rate(pushes: pushes, period: Int64(milliseconds))
    }

    /// Reads a span of time.
    ///
    /// - Parameter node: The mapping.
    /// - Returns: The window.
    mutating func window(_ node: Node) -> TimeWindow {
        var window = TimeWindow()
        for (key, value) in members(of: node, allowed: ScenarioKeys.window) {
            let time = milliseconds(value).map(Int64.init)
            switch key {
            case "from": window.from = time ?? 0
            case "until": window.until = time
            default: window.every = time
            }
        }
        if let until = window.until, until <= window.from { mistake(node, "`until` comes after `from`") }
        return window
    }
}

extension ScenarioDecoder {
    /// Remembers a mistake.
    ///
    /// - Parameters:
    ///   - node: Where it is.
    ///   - message: What is wrong.
    mutating func mistake(_ node: Node, _ message: String) {
        mistakes.append("\(name):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1): \(message)")
    }

    /// The members of a mapping.
    ///
    /// - Parameters:
    ///   - node: The mapping.
    ///   - allowed: The keys it may have.
    /// - Returns: Names and values in order.
    mutating func members(of node: Node, allowed: [String]) -> [(String, Node)] {
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

    /// The members of a mapping by name.
    ///
    /// - Parameters:
    ///   - node: The mapping.
    ///   - allowed: The keys it may have.
    mutating func fields(of node: Node, allowed: [String]) -> [String: Node] {
        Dictionary(members(of: node, allowed: allowed), uniquingKeysWith: { first, _ in first })
    }

    /// The items of a list.
    ///
    /// - Parameters:
    ///   - node: The list.
    ///   - key: The name.
    mutating func list(_ node: Node, named key: String) -> [Node] {
        guard case .sequence(let items) = node else {
            mistake(node, "`\(key)` is a list")
            return []
        }
        if items.count > Self.ruleLimit { mistake(node, "`\(key)` has more than \(Self.ruleLimit) items") }
        return Array(items.prefix(Self.ruleLimit))
    }

    /// A single value as text.
    ///
    /// - Parameter node: The value.
    mutating func text(_ node: Node) -> String? {
        guard let scalar = node.scalar else {
            mistake(node, "expected one value, not a list or mapping")
            return nil
        }
        return scalar.string
    }

    /// A whole number.
    ///
    /// - Parameters:
    ///   - node: The value.
    ///   - range: The allowed numbers.
    mutating func integer(_ node: Node, in range: ClosedRange<Int>) -> Int? {
        guard let number = text(node).flatMap({ Int($0) }), range.contains(number) else {
            let upper = range.upperBound == Int.max ? "up" : "to \(range.upperBound)"
            mistake(node, "expected a whole number from \(range.lowerBound) \(upper)")
            return nil
        }
        return number
    }

    /// A share.
    ///
    /// - Parameter node: The value.
    mutating func ratio(_ node: Node) -> Double? {
        guard let ratio = text(node).flatMap(Double.init), (0...1).contains(ratio) else {
            mistake(node, "`ratio` is a number from 0 to 1")
            return nil
        }
        return ratio
    }

    /// A duration.
    ///
    /// - Parameter node: The value, up to ten years.
    mutating func milliseconds(_ node: Node) -> Int? {
        guard let written = text(node) else { return nil }
        guard let milliseconds = DurationText.milliseconds(written) else {
            mistake(node, "a delay is \(DurationText.form)")
            return nil
        }
        return Int(milliseconds)
    }

    /// `true` or `false`.
    ///
    /// - Parameter node: The value.
    mutating func flag(_ node: Node) -> Bool {
        switch text(node) {
        case "true": return true
        case "false": return false
        default:
            mistake(node, "expected true or false")
            return false
        }
    }

    /// An HTTP/2 error code.
    ///
    /// - Parameter node: Its name or number.
    mutating func code(_ node: Node) -> UInt32? {
        guard let code = text(node).flatMap(HTTP2CodeName.code(of:)) else {
            mistake(node, "expected an HTTP/2 error code such as REFUSED_STREAM")
            return nil
        }
        return code
    }

    /// One of a few words.
    ///
    /// - Parameters:
    ///   - node: The value.
    ///   - key: The name.
    mutating func choice<Choice>(_ node: Node, named key: String) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = text(node).flatMap(Choice.init(rawValue:)) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            mistake(node, "`\(key)` is one of \(known)")
            return nil
        }
        return choice
    }
}
