import CRabbitMQ

/// Names, tables and arrays in the library's form: copies that are freed when this goes away.
struct LibraryValues: ~Copyable {
    private var allocations: [UnsafeMutableRawPointer] = []

    deinit { for allocation in allocations { allocation.deallocate() } }

    /// Copies a name.
    ///
    /// - Parameter text: Its text.
    /// - Returns: A string in memory of this object.
    /// - Throws: `invalidMessage` if it is longer than 255 bytes.
    mutating func name(_ text: String) throws(AMQPError) -> amqp_bytes_t {
        let bytes = Array(text.utf8)
        guard bytes.count <= 255 else { throw AMQPError(.invalidMessage, "a name is longer than 255 bytes") }
        return copy(bytes)
    }

    /// Copies bytes.
    ///
    /// - Parameter bytes: Any bytes.
    /// - Returns: The same bytes in memory of this object.
    mutating func copy(_ bytes: [UInt8]) -> amqp_bytes_t {
        let memory = allocate(UInt8.self, bytes.count)
        memory.update(from: bytes, count: bytes.count)
        return amqp_bytes_t(len: bytes.count, bytes: UnsafeMutableRawPointer(memory))
    }

    /// Turns a value into the library's form.
    ///
    /// - Parameter value: Any value.
    /// - Returns: A struct that refers to memory of this object.
    mutating func encode(_ value: FieldValue) -> amqp_field_value_t {
        var result = amqp_field_value_t()
        result.kind = value.kind
        switch value {
        case .text(let text), .bytes(let text): result.value.bytes = copy(text)
        case .decimal(let scale, let number):
            result.value.decimal = amqp_decimal_t(decimals: scale, value: number)
        case .table(let table): result.value.table = encode(table)
        case .array(let values):
            let elements = allocate(amqp_field_value_t.self, values.count)
            for (index, element) in values.enumerated() { elements[index] = encode(element) }
            result.value.array = amqp_array_t(num_entries: Int32(values.count), entries: elements)
        default: crabbit_set_integer(&result, value.kind, value.bits)
        }
        return result
    }

    /// Turns a table into the library's form.
    ///
    /// - Parameter table: Any table.
    /// - Returns: A struct that refers to memory of this object.
    mutating func encode(_ table: FieldTable) -> amqp_table_t {
        let entries = allocate(amqp_table_entry_t.self, table.entries.count)
        for (index, entry) in table.entries.enumerated() {
            entries[index] = amqp_table_entry_t(key: copy(entry.name), value: encode(entry.value))
        }
        return amqp_table_t(num_entries: Int32(table.entries.count), entries: entries)
    }

    private mutating func allocate<Element>(_ type: Element.Type, _ count: Int) -> UnsafeMutablePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
        allocations.append(UnsafeMutableRawPointer(memory))
        return memory
    }
}
