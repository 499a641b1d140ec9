/// A field table with memory of its own, in the order of the wire. Names may repeat.
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
    ///   - maximumSize: How many bytes the content, and with it each nested part, may have.
    /// - Throws: `malformedTable` if it is damaged, too deep or too large.
    package init(
        reading range: Range<Int>, in bytes: borrowing [UInt8], maximumDepth: Int = 8,
        maximumSize: Int = FieldTableReader.maximumSize
    ) throws(AMQPError) {
        entries = []
        var reader = FieldTableReader(range, maximumDepth: maximumDepth, maximumSize: maximumSize)
        while let field = try reader.next(in: bytes) {
            let value = try FieldValue(field, in: bytes)
            entries.append(Entry(name: Array(bytes[field.name]), value: value))
        }
    }

    /// Copies out of its buffer what can be used of a table that producers wrote: entries that are nested too deeply are
    /// left out.
    ///
    /// - Parameter maximumSize: How many bytes the content may have.
    /// - Throws: `malformedTable` if it is damaged or too large.
    package init(
        usableOf range: Range<Int>, in bytes: borrowing [UInt8], maximumSize: Int
    ) throws(AMQPError) {
        entries = []
        var reader = FieldTableReader(range, maximumDepth: 64, maximumSize: maximumSize)
        while let field = try reader.next(in: bytes) {
            guard let value = try? FieldValue(field, in: bytes) else { continue }
            entries.append(Entry(name: Array(bytes[field.name]), value: value))
        }
    }

    /// The value of the first entry with a name.
    ///
    /// - Parameter name: The name.
    package subscript(_ name: String) -> FieldValue? {
        entries.first { $0.name.elementsEqual(name.utf8) }?.value
    }
}
