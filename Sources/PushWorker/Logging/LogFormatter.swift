import Logging
import WorkerSettings

/// Makes one line of one event. Pure.
struct LogFormatter: Sendable {
    /// The look of a line.
    enum Style: Sendable, Equatable {
        /// One JSON object per line.
        case json
        /// For people.
        case text(colour: Bool)
    }

    /// The look of a line.
    let style: Style

    /// Decides the look from the configuration, the terminal and the environment.
    ///
    /// Colour needs a terminal (or `FORCE_COLOR`), and is off with `NO_COLOR` or `TERM=dumb`.
    /// [no-color.org](https://no-color.org), [force-color.org](https://force-color.org)
    init(format: LogConfiguration.Format, isTerminal: Bool, environment: [String: String]) {
        let isText = format == .text || (format == .automatic && isTerminal)
        let isForbidden = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        let isForced = !(environment["FORCE_COLOR"] ?? "").isEmpty
        style = isText ? .text(colour: !isForbidden && (isTerminal || isForced)) : .json
    }

    /// Writes a line with its line end.
    ///
    /// - Parameters:
    ///   - level: How important it is.
    ///   - message: The constant message.
    ///   - metadata: What varies. The keys are sorted, so that lines can be compared.
    ///   - label: The logger's label.
    ///   - time: Milliseconds since 1970.
    func line(
        level: Logger.Level, message: String, metadata: Logger.Metadata, label: String, time: Int64
    ) -> [UInt8] {
        var line: String
        switch style {
        case .json: line = json(level, message, metadata, label, time)
        case .text(let colour): line = text(level, message, metadata, time, colour)
        }
        line.append("\n")
        return Array(line.utf8)
    }

    private static let reservedKeys: Set<String> = ["time", "level", "logger", "message"]

    private func json(
        _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, _ label: String, _ time: Int64
    ) -> String {
        var line = "{\"time\":\"\(LogTime(milliseconds: time).full)\",\"level\":\"\(level.rawValue)\""
        line += ",\"logger\":\(Self.quoted(label)),\"message\":\(Self.quoted(Redaction.scrub(message)))"
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            let name = Self.reservedKeys.contains(key) ? "_\(key)" : key
            line += ",\(Self.quoted(name)):\(Self.json(value))"
        }
        return line + "}"
    }

    private static func json(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): return quoted(Redaction.scrub(text))
        case .stringConvertible(let value):
            // Numbers stay numbers, so that tools can calculate with them.
            switch value {
            case let number as any BinaryInteger: return "\(number)"
            case let flag as Bool: return flag ? "true" : "false"
            case let number as Double where number.isFinite: return "\(number)"
            default: return quoted(Redaction.scrub(value.description))
            }
        case .array(let values): return "[\(values.map(json).joined(separator: ","))]"
        case .dictionary(let values):
            let members = values.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\(json($0.value))" }
            return "{\(members.joined(separator: ","))}"
        }
    }

    private func text(
        _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, _ time: Int64, _ colour: Bool
    ) -> String {
        let name = level.rawValue.uppercased()
        let padded = name + String(repeating: " ", count: max(0, 8 - name.count))
        let dim = colour ? "\u{1b}[2m" : ""
        let reset = colour ? "\u{1b}[0m" : ""
        var line = "\(dim)\(LogTime(milliseconds: time).clock)\(reset) "
        line += colour ? "\(Self.colour(of: level))\(padded)\(reset) " : "\(padded) "
        line += Self.printable(Redaction.scrub(message))
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            line += " \(dim)\(key)=\(reset)\(Self.word(value))"
        }
        return line
    }

    private static func word(_ value: Logger.MetadataValue) -> String {
        let text = printable(Redaction.scrub("\(value)"))
        return text.isEmpty || text.contains(" ") ? "\"\(text)\"" : text
    }

    /// The text with control characters replaced. Text of others must not move the cursor or fake a line.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { kept.append(isControl(scalar) ? "\u{fffd}" : scalar) }
        return String(kept)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
    }

    private static func colour(of level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "\u{1b}[2m"
        case .info: "\u{1b}[32m"
        case .notice: "\u{1b}[36m"
        case .warning: "\u{1b}[33m"
        case .error: "\u{1b}[31m"
        case .critical: "\u{1b}[1;31m"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\u{0}"..<" ", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
