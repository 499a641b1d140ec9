/// A value in a field table, on its own; for what is not on the hot path.
package enum FieldValue: Sendable, Equatable {
    /// A long string, not necessarily UTF-8.
    case text([UInt8])
    /// A byte array.
    case bytes([UInt8])
    /// A signed integer of any width.
    case integer(Int64)
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
    ///   - field: The value, as read by `FieldTableReader` with its usual limits or stricter ones.
    ///   - bytes: The buffer it was read from.
    /// - Throws: `malformedTable` if the buffer is another one.
    package init(_ field: Field, in bytes: borrowing [UInt8]) throws(AMQPError) {
        switch field.value {
        case .text(let range): self = .text(Array(bytes[range]))
        case .bytes(let range): self = .bytes(Array(bytes[range]))
        case .integer(let number): self = .integer(number)
        case .unsigned(let number): self = .unsigned(number)
        case .boolean(let truth): self = .boolean(truth)
        case .timestamp(let seconds): self = .timestamp(seconds)
        case .double(let number): self = field.kind == UInt8(ascii: "f") ? .float(Float(number)) : .double(number)
        case .decimal(let scale, let value): self = .decimal(scale: scale, value: value)
        case .table(let range): self = .table(try FieldTable(reading: range, in: bytes))
        case .array(let range):
            var reader = FieldTableReader(elements: range)
            var elements: [FieldValue] = []
            while let element = try reader.next(in: bytes) { elements.append(try FieldValue(element, in: bytes)) }
            self = .array(elements)
        case .void: self = .void
        }
    }
}

/// A field table on its own, in the order of the wire; names may repeat.
package struct FieldTable: Sendable, Equatable {
    /// One entry.
    package struct Entry: Sendable, Equatable {
        /// The name.
        package var name: [UInt8]
        /// The value.
        package var value: FieldValue

        /// Makes an entry.
        ///
        /// - Parameters:
        ///   - name: The name, at most 255 bytes.
        ///   - value: The value.
        package init(name: [UInt8], value: FieldValue) {
            self.name = name
            self.value = value
        }
    }

    /// The entries.
    package var entries: [Entry]

    /// Makes a table.
    ///
    /// - Parameter entries: Its entries.
    package init(entries: [Entry] = []) { self.entries = entries }

    /// Copies a table out of its buffer.
    ///
    /// - Parameters:
    ///   - range: Where its content stands.
    ///   - bytes: The buffer.
    ///   - maximumDepth: How many tables and arrays may be nested, this one included.
    ///   - maximumSize: How many bytes the content may have.
    /// - Throws: `malformedTable` if it is damaged, too deep or too large.
    package init(
        reading range: Range<Int>, in bytes: borrowing [UInt8], maximumDepth: Int = 8,
        maximumSize: Int = FieldTableReader.maximumSize
    ) throws(AMQPError) {
        entries = []
        var reader = FieldTableReader(range, maximumDepth: maximumDepth, maximumSize: maximumSize)
        while let field = try reader.next(in: bytes) {
            entries.append(Entry(name: Array(bytes[field.name]), value: try FieldValue(field, in: bytes)))
        }
    }

    /// The value of the first entry with a name.
    ///
    /// - Parameter name: The name.
    package subscript(_ name: String) -> FieldValue? {
        entries.first { $0.name.elementsEqual(name.utf8) }?.value
    }
}
