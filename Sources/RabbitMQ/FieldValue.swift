/// A value of a field table with memory of its own, for use away from the hot path.
package enum FieldValue: Sendable, Equatable {
    /// A long string, not necessarily UTF-8.
    case text([UInt8])
    /// A byte array.
    case bytes([UInt8])
    /// A signed integer of any width.
    case integer(Int64)
    /// The same in fewer than eight bytes, of this kind. Only copies tell the widths apart.
    case narrow(Int64, kind: UInt8)
    /// An integer above the largest `Int64`.
    case unsigned(UInt64)
    /// A truth value.
    case boolean(Bool)
    /// Seconds since 1970.
    case timestamp(UInt64)
    /// A single-precision number.
    case float(Float)
    /// A double-precision number.
    case double(Double)
    /// `value` divided by ten to the power of `scale`.
    case decimal(scale: UInt8, value: UInt32)
    /// A nested table.
    case table(FieldTable)
    /// A list of values of any kinds.
    case array([FieldValue])
    /// Nothing.
    case void

    /// A long string from text.
    ///
    /// - Parameter text: Its text.
    /// - Returns: The value.
    package static func text(_ text: String) -> FieldValue { .text(Array(text.utf8)) }

    /// Copies a value out of its buffer.
    ///
    /// - Parameters:
    ///   - field: The value, as read by a `FieldTableReader`. That reader's limits count for nested values, too.
    ///   - bytes: The buffer it was read from. With another buffer the value is wrong, or the process traps.
    ///   - keepingWidths: Whether the value is for a copy, which must not be larger.
    /// - Throws: `malformedTable` if a nested table or array is damaged or too deep.
    package init(_ field: Field, in bytes: borrowing [UInt8], keepingWidths: Bool = false) throws(AMQPError) {
        switch field.value {
        case .text(let range): self = .text(Array(bytes[range]))
        case .bytes(let range): self = .bytes(Array(bytes[range]))
        case .integer(let number) where keepingWidths: self = .narrow(number, kind: field.kind)
        case .integer(let number): self = .integer(number)
        case .unsigned(let number): self = .unsigned(number)
        case .boolean(let truth): self = .boolean(truth)
        case .timestamp(let seconds): self = .timestamp(seconds)
        case .double(let number): self = field.kind == UInt8(ascii: "f") ? .float(Float(number)) : .double(number)
        case .decimal(let scale, let value): self = .decimal(scale: scale, value: value)
        case .table(let range):
            var reader = FieldTableReader(range, maximumSize: range.count)
            var table = FieldTable()
            while let entry = try reader.next(in: bytes) {
                let value = try FieldValue(entry, in: bytes, keepingWidths: keepingWidths)
                table.entries.append(.init(name: Array(bytes[entry.name]), value: value))
            }
            self = .table(table)
        case .array(let range):
            var reader = FieldTableReader(elements: range, maximumSize: range.count)
            var elements: [FieldValue] = []
            while let element = try reader.next(in: bytes) {
                elements.append(try FieldValue(element, in: bytes, keepingWidths: keepingWidths))
            }
            self = .array(elements)
        case .void: self = .void
        }
    }
}
