import Text

/// JSON to be written with its keys in a chosen order, and with pieces that are JSON already.
///
/// Only commands need such a tree of values: the worker and the simulator read and write JSON without one.
indirect enum JSON {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction. A number that is not finite is written as `null`.
    case number(Double)
    /// A string.
    case text(String)
    /// An array.
    case array([JSON])
    /// An object; names are written in this order and shall differ.
    case object([(String, JSON)])
    /// Valid JSON, written byte for byte.
    case verbatim([UInt8])

    /// A string, or `null` without one.
    static func optional(_ text: String?) -> JSON { text.map { .text($0) } ?? .null }

    /// A whole number, or `null` without one.
    static func optional(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }

    /// The value as compact UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// The value as compact text.
    var description: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends the value as compact UTF-8.
    ///
    /// - Parameter bytes: The buffer to append to.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let value): bytes += (value.isFinite ? String(value) : "null").utf8
        case .text(let text): JSONEscaping.append(quoted: text, to: &bytes)
        case .verbatim(let json): bytes += json
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONEscaping.append(quoted: member.0, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.1.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
