import TestSupport
import Testing

@testable import Simulation

/// One rule that Martlet relies on, as a conversation with a broker. It throws or returns the events that the rule decides;
/// `expected` says what they must be.
struct Script: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: @Sendable (ModelBroker.Version) -> [String]
    let run: @Sendable (any Stage) throws -> [String]

    init(
        _ name: String, _ expected: [String], _ run: @escaping @Sendable (any Stage) throws -> [String]
    ) { self.init(name, { _ in expected }, run) }

    init(
        _ name: String, _ expected: @escaping @Sendable (ModelBroker.Version) -> [String],
        _ run: @escaping @Sendable (any Stage) throws -> [String]
    ) { (testDescription, self.expected, self.run) = (name, expected, run) }
}

extension ScriptClient {
    /// Reads until so many publications are answered, and returns what was refused and what else came.
    func confirmed(_ count: UInt64, from first: UInt64 = 1) throws -> [String] {
        var (open, others): (Set<UInt64>, [String]) = (Set(first..<(first + count)), [])
        while !open.isEmpty {
            let event = try next()
            let words = event.split(separator: " ")
            guard ["ack", "nack"].contains(words[0]), let tag = UInt64(words[1]) else {
                guard event != "nothing" else { throw ScriptFailure("unconfirmed: \(open.sorted())") }
                others.append(event)
                continue
            }
            let settled = words.count > 2 ? open.filter { $0 <= tag } : [tag]
            open.subtract(settled)
            if words[0] == "nack" { others += settled.sorted().map { "nack \($0)" } }
        }
        return others
    }

    /// A header of the last message as text.
    func header(_ name: String) -> String {
        guard let value = headers[name] else { return "\(name) -" }
        return "\(name) \(value.number.map { "\($0)" } ?? value.string ?? "?")"
    }

    /// A field of the last death of the last message.
    func death(_ field: String, _ position: Int = 0) -> String {
        guard case .array(let deaths)? = headers["x-death"], deaths.count > position,
            case .table(let death) = deaths[position], let value = death[field]
        else { return "\(field) -" }
        return "\(field) \(value.number.map { "\($0)" } ?? value.string ?? "?")"
    }
}

extension Script {
    static let all: [Script] = publishing + consuming + counting + dying + routing + streaming + rights + more
}
