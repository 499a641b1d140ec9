extension OutgoingMessage {
    // A text is given as constant text, as bytes to copy, or by a closure that appends it to the buffer in place. Each
    // property has only the forms that are used.

    /// Sets the exchange; without it the message goes to the default exchange.
    package mutating func setExchange(_ name: StaticString) { setExchange(at: append(name)) }
    /// Sets the exchange from bytes.
    package mutating func setExchange(_ name: Span<UInt8>) { setExchange(at: append(name)) }

    /// Sets the routing key.
    package mutating func setRoutingKey(_ key: StaticString) { setRoutingKey(at: append(key)) }
    /// Sets the routing key from bytes.
    package mutating func setRoutingKey(_ key: Span<UInt8>) { setRoutingKey(at: append(key)) }
    /// Sets the routing key to what a closure appends.
    package mutating func setRoutingKey(appending build: (inout [UInt8]) -> Void) {
        setRoutingKey(at: append(build))
    }

    /// Sets the MIME type of the body.
    package mutating func setContentType(_ text: StaticString) { set(.contentType, at: append(text)) }
    /// Sets the MIME type of the body from bytes.
    package mutating func setContentType(_ text: Span<UInt8>) { set(.contentType, at: append(text)) }

    /// Sets the encoding of the body from bytes.
    package mutating func setContentEncoding(_ text: Span<UInt8>) { set(.contentEncoding, at: append(text)) }

    /// Sets the message id, which identifies a returned message.
    package mutating func setMessageID(_ text: Span<UInt8>) { set(.messageID, at: append(text)) }
    /// Sets the message id to what a closure appends.
    package mutating func setMessageID(appending build: (inout [UInt8]) -> Void) { set(.messageID, at: append(build)) }

    /// Sets the correlation id from bytes.
    package mutating func setCorrelationID(_ text: Span<UInt8>) { set(.correlationID, at: append(text)) }
    /// Sets the correlation id to what a closure appends.
    package mutating func setCorrelationID(appending build: (inout [UInt8]) -> Void) {
        set(.correlationID, at: append(build))
    }

    /// Sets where replies go.
    package mutating func setReplyTo(_ text: Span<UInt8>) { set(.replyTo, at: append(text)) }

    /// Sets the kind of message.
    package mutating func setType(_ text: StaticString) { set(.type, at: append(text)) }
    /// Sets the kind of message from bytes.
    package mutating func setType(_ text: Span<UInt8>) { set(.type, at: append(text)) }

    /// Sets the producer's name for itself.
    package mutating func setAppID(_ text: Span<UInt8>) { set(.appID, at: append(text)) }

    /// Sets the user, which must be the one logged in.
    package mutating func setUserID(_ text: Span<UInt8>) { set(.userID, at: append(text)) }

    /// Sets the time to live, milliseconds as text.
    package mutating func setExpiration(_ text: Span<UInt8>) { set(.expiration, at: append(text)) }

    /// Sets the body to a copy of bytes.
    package mutating func setBody(_ bytes: Span<UInt8>) { setBody(at: append(bytes)) }
    /// Sets the body to what a closure appends.
    ///
    /// - Parameter build: Appends to the buffer that it gets, and must leave the bytes there as they are.
    package mutating func withBody(_ build: (inout [UInt8]) -> Void) { setBody(at: append(build)) }

    // MARK: Headers

    /// Adds a header with text.
    package mutating func addHeader(_ name: StaticString, text: Span<UInt8>) {
        addHeader(name, appendingText: { bytes in text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) } })
    }

    /// Adds a header with constant text.
    package mutating func addHeader(_ name: StaticString, text: StaticString) {
        addHeader(name, appendingText: { bytes in text.withUTF8Buffer { bytes.append(contentsOf: $0) } })
    }

    /// Adds a header whose text is what a closure appends.
    package mutating func addHeader(_ name: StaticString, appendingText build: (inout [UInt8]) -> Void) {
        let nameRange = append(name)
        let value = append(build)
        addHeader(at: nameRange, kind: UInt8(ascii: "S"), bits: 0, value: value, size: 4 + value.count)
    }

    /// Adds a header with a number.
    package mutating func addHeader(_ name: StaticString, integer: Int64) {
        addHeader(
            at: append(name), kind: UInt8(ascii: "l"), bits: UInt64(bitPattern: integer), value: 0..<0, size: 8)
    }

    /// Adds a copy of a header that was read, of the same kind and value.
    ///
    /// - Parameters:
    ///   - field: The header, as read by `FieldTableReader`.
    ///   - source: The buffer it was read from. With another buffer the copy is wrong, or the process traps.
    /// - Throws: `malformedTable` if a nested table or array is damaged or too deep.
    package mutating func addHeader(copying field: Field, from source: borrowing [UInt8]) throws(AMQPError) {
        let name = append(source.span.extracting(field.name))
        switch field.value {
        case .text(let range), .bytes(let range):
            let value = append(source.span.extracting(range))
            addHeader(at: name, kind: field.kind, bits: 0, value: value, size: 4 + value.count)
        default:
            addHeader(at: name, kind: field.kind, value: try FieldValue(field, in: source, keepingWidths: true))
        }
    }

    /// Adds a header of any kind; allocates for nested values.
    package mutating func addHeader(name: Span<UInt8>, value: FieldValue) {
        addHeader(at: append(name), kind: value.kind, value: value)
    }

    private mutating func addHeader(at name: Range<Int>, kind: UInt8, value: FieldValue) {
        switch value {
        case .text(let text), .bytes(let text):
            let range = append(text.span)
            addHeader(at: name, kind: kind, bits: 0, value: range, size: 4 + range.count)
        case .table, .array, .decimal:
            let index = keep(value)
            addHeader(at: name, kind: kind, bits: UInt64(index), value: 0..<0, size: value.encodedSize)
        default:
            let size = FieldValue.size(ofKind: kind)
            addHeader(at: name, kind: kind, bits: value.bits, value: 0..<0, size: size)
        }
    }
}

extension FieldValue {
    /// The kind this value is written as.
    var kind: UInt8 {
        switch self {
        case .text: UInt8(ascii: "S")
        case .bytes: UInt8(ascii: "x")
        case .integer: UInt8(ascii: "l")
        case .narrow(_, let kind): kind
        case .unsigned: UInt8(ascii: "L")
        case .boolean: UInt8(ascii: "t")
        case .timestamp: UInt8(ascii: "T")
        case .float: UInt8(ascii: "f")
        case .double: UInt8(ascii: "d")
        case .decimal: UInt8(ascii: "D")
        case .table: UInt8(ascii: "F")
        case .array: UInt8(ascii: "A")
        case .void: UInt8(ascii: "V")
        }
    }

    /// The bits of a number; zero for everything else.
    var bits: UInt64 {
        switch self {
        case .integer(let number), .narrow(let number, _): UInt64(bitPattern: number)
        case .unsigned(let number), .timestamp(let number): number
        case .boolean(let truth): truth ? 1 : 0
        case .float(let number): UInt64(number.bitPattern)
        case .double(let number): number.bitPattern
        case .text, .bytes, .decimal, .table, .array, .void: 0
        }
    }

    /// The size of a number of some kind on the wire.
    ///
    /// - Parameter kind: The kind.
    /// - Returns: Its size in bytes, without the kind.
    static func size(ofKind kind: UInt8) -> Int {
        switch kind {
        case UInt8(ascii: "V"): 0
        case UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "B"): 1
        case UInt8(ascii: "s"), UInt8(ascii: "u"): 2
        case UInt8(ascii: "I"), UInt8(ascii: "i"), UInt8(ascii: "f"): 4
        case UInt8(ascii: "D"): 5
        default: 8
        }
    }

    /// The size of this value on the wire, without its kind.
    var encodedSize: Int {
        switch self {
        case .text(let bytes), .bytes(let bytes): 4 + bytes.count
        case .table(let table): table.entries.reduce(4) { $0 + 2 + $1.name.count + $1.value.encodedSize }
        case .array(let values): values.reduce(4) { $0 + 1 + $1.encodedSize }
        default: Self.size(ofKind: kind)
        }
    }
}
