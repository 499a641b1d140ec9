import PushModel
import Text

/// What a worker tells the others of its fleet: that it lives, or that it leaves.
///
/// A report is a JSON object. Unknown members are ignored, so that later versions can say more.
struct FleetReport: Equatable, Sendable {
    /// The longest report that is read, in bytes.
    static let maximumLength = 1_024
    /// Mark a message as a report of this version. Another version would have another meaning.
    private static let type = "martlet.fleet"
    private static let version = "1"

    /// The worker's name.
    var instance: String
    /// When the worker was started, in milliseconds since 1970. Distinguishes the worker from an earlier one of the
    /// same name.
    var startedAt: Int64
    /// Whether it takes no more jobs.
    var isLeaving = false

    /// Makes a report from its parts.
    init(instance: String, startedAt: Int64, isLeaving: Bool = false) {
        self.instance = instance
        self.startedAt = startedAt
        self.isLeaving = isLeaving
    }

    /// Reads a report; nil for a message that is not a report, or that states impossible values.
    init?(parsing body: [UInt8]) {
        guard body.count <= Self.maximumLength, let members = Self.members(of: body),
            members["type"] == .text(Self.type), members["version"] == .number(Self.version),
            case .text(let instance) = members["instance"], !instance.isEmpty,
            case .number(let time) = members["started_at"], let startedAt = Int64(time)
        else { return nil }
        switch members["leaving"] {
        case nil: isLeaving = false
        case .flag(let flag): isLeaving = flag
        default: return nil
        }
        self.instance = instance
        self.startedAt = startedAt
    }

    /// The report as JSON.
    var json: [UInt8] {
        let name = JSONEscaping.quoted(instance)
        let head = #"{"type":"\#(Self.type)","version":\#(Self.version),"instance":\#(name)"#
        return Array((head + #","started_at":\#(startedAt),"leaving":\#(isLeaving)}"#).utf8)
    }

    /// A member's value. Reports use no values that are `other`.
    private enum Value: Equatable {
        case text(String), number(String), flag(Bool), other
    }

    /// The members of a JSON object; nil for anything else. If a name is repeated, its last member counts.
    private static func members(of body: [UInt8]) -> [String: Value]? {
        var bytes = body
        var scanner = JSONScanner(0..<body.count)
        func text(_ value: JSONValue) -> String? {
            let range = value.flag ? JSONText.unescape(value.range, in: &bytes) : value.range
            return range.map { String(decoding: bytes[$0], as: UTF8.self) }
        }
        do throws(JSONError) {
            var members: [String: Value] = [:]
            guard try scanner.enterObject(in: body.span) else { return nil }
            while let name = try scanner.nextName(in: body.span) {
                let value = try scanner.value(in: body.span)
                guard let name = text(name) else { return nil }
                switch value.kind {
                case .string: members[name] = text(value).map { .text($0) } ?? .other
                case .number: members[name] = .number(String(decoding: body[value.range], as: UTF8.self))
                case .boolean: members[name] = .flag(value.flag)
                case .object, .array, .null: members[name] = .other
                }
            }
            try scanner.finish(in: body.span)
            return members
        } catch {
            return nil
        }
    }
}
