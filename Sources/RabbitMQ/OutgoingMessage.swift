/// A message that is being built for publishing: one byte buffer, and the places of all parts in it.
///
/// Meant to be kept and `reset()`. Once its buffers have grown to their usual size, building a message without nested
/// header values allocates nothing. Messages are always persistent. Limits are checked when the message is published.
package struct OutgoingMessage: Sendable {
    /// A header, by its place in the buffer.
    struct Header: Sendable {
        /// Where its name stands.
        var name: Range<Int>
        /// Its kind on the wire.
        var kind: UInt8
        /// The bits of a number, or the index of a nested value.
        var bits: UInt64
        /// The bytes of a string.
        var value: Range<Int>
    }

    /// The properties that are short strings, by the bit of their property flag.
    enum Property: Int, CaseIterable {
        case contentType = 15
        case contentEncoding = 14
        case correlationID = 10
        case replyTo = 9
        case expiration = 8
        case messageID = 7
        case type = 5
        case userID = 4
        case appID = 3
    }

    /// All text and the body.
    private(set) var bytes: [UInt8] = []
    /// The headers, in order.
    private(set) var headers: [Header] = []
    /// Nested tables and arrays, and decimals; headers refer to them by index.
    private(set) var nested: [FieldValue] = []
    /// Which properties are set, by the bits of the wire form.
    private(set) var flags: UInt16 = 0
    /// Where the short strings stand, by flag bit.
    private var properties: InlineArray<16, Range<Int>> = .init(repeating: 0..<0)
    /// Where the exchange's name stands.
    private(set) var exchange = 0..<0
    /// Where the routing key stands.
    private(set) var routingKey = 0..<0
    /// Where the body stands.
    private(set) var body = 0..<0
    /// The time stamp, seconds since 1970.
    private(set) var timestamp: UInt64 = 0
    /// The priority.
    private(set) var priority: UInt8 = 0
    /// The size of all header entries on the wire.
    private(set) var headerBytes = 0
    /// The name of the first text that is over 255 bytes.
    private(set) var flaw: StaticString?
    /// Whether the broker must return the message if no queue takes it.
    package var isMandatory = false

    /// An empty message.
    package init() {}

    /// Empties the message and keeps its memory.
    package mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        headers.removeAll(keepingCapacity: true)
        if !nested.isEmpty { nested.removeAll() }
        flags = 0
        exchange = 0..<0
        routingKey = 0..<0
        body = 0..<0
        headerBytes = 0
        flaw = nil
        isMandatory = false
    }

    /// Where a property's text stands.
    ///
    /// - Parameter property: The property.
    /// - Returns: An empty range if it is not set.
    func text(of property: Property) -> Range<Int> {
        flags & 1 << UInt16(property.rawValue) == 0 ? 0..<0 : properties[property.rawValue]
    }

    /// The message id, which identifies a returned message; empty if it is not set.
    package var messageID: ArraySlice<UInt8> { bytes[text(of: .messageID)] }

    // MARK: Building blocks

    /// Lets a closure append to the buffer.
    ///
    /// - Parameter build: Appends, and does nothing else to the buffer.
    /// - Returns: Where the appended bytes stand.
    @inline(__always)
    mutating func append(_ build: (inout [UInt8]) -> Void) -> Range<Int> {
        let start = bytes.count
        build(&bytes)
        precondition(bytes.count >= start, "only appending is allowed while a message is built")
        return start..<bytes.count
    }

    /// Appends bytes.
    ///
    /// - Parameter text: The bytes, copied.
    /// - Returns: Where they stand.
    @inline(__always)
    mutating func append(_ text: Span<UInt8>) -> Range<Int> {
        append { bytes in text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) } }
    }

    /// Appends constant text.
    ///
    /// - Parameter text: The text.
    /// - Returns: Where it stands.
    @inline(__always)
    mutating func append(_ text: StaticString) -> Range<Int> {
        append { bytes in text.withUTF8Buffer { bytes.append(contentsOf: $0) } }
    }

    /// Notes in `flaw` if a short string is too long.
    @inline(__always)
    private mutating func check(_ range: Range<Int>, _ name: StaticString) -> Range<Int> {
        if range.count > 255, flaw == nil { flaw = name }
        return range
    }

    @inline(__always)
    private mutating func set(_ property: Property, _ range: Range<Int>, _ name: StaticString) {
        properties[property.rawValue] = check(range, name)
        flags |= 1 << UInt16(property.rawValue)
    }

    /// Sets the exchange's place.
    ///
    /// - Parameter range: Where the name stands.
    mutating func setExchange(at range: Range<Int>) { exchange = check(range, "the exchange name") }

    /// Sets the routing key's place.
    ///
    /// - Parameter range: Where the key stands.
    mutating func setRoutingKey(at range: Range<Int>) { routingKey = check(range, "the routing key") }

    /// Sets a property's place.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - range: Where its text stands.
    mutating func set(_ property: Property, at range: Range<Int>) {
        let name: StaticString =
            switch property {
            case .contentType: "the content type"
            case .contentEncoding: "the content encoding"
            case .correlationID: "the correlation id"
            case .replyTo: "reply_to"
            case .expiration: "the expiration"
            case .messageID: "the message id"
            case .type: "the type"
            case .userID: "the user id"
            case .appID: "the app id"
            }
        set(property, range, name)
    }

    /// Sets the body's place.
    ///
    /// - Parameter range: Where it stands.
    mutating func setBody(at range: Range<Int>) { body = range }

    /// Sets the time stamp.
    ///
    /// - Parameter seconds: Seconds since 1970.
    package mutating func setTimestamp(_ seconds: UInt64) {
        timestamp = seconds
        flags |= 1 << 6
    }

    /// Sets the priority, 0 to 255.
    package mutating func setPriority(_ number: UInt8) {
        priority = number
        flags |= 1 << 11
    }

    /// Adds a header by its place.
    ///
    /// - Parameters:
    ///   - name: Where its name stands.
    ///   - kind: Its kind on the wire.
    ///   - bits: The bits of a number, or the index of a nested value.
    ///   - value: Where the bytes of a string stand.
    ///   - size: The size of the value on the wire, without its kind.
    mutating func addHeader(at name: Range<Int>, kind: UInt8, bits: UInt64, value: Range<Int>, size: Int) {
        _ = check(name, "a header name")
        headers.append(Header(name: name, kind: kind, bits: bits, value: value))
        headerBytes += 1 + name.count + 1 + size
        flags |= 1 << 13
    }

    /// Keeps a nested value.
    ///
    /// - Parameter value: A table, array or decimal.
    /// - Returns: Its index.
    mutating func keep(_ value: FieldValue) -> Int {
        nested.append(value)
        return nested.count - 1
    }

    // MARK: Size

    /// The size of the property list on the wire, in bytes.
    var propertyBytes: Int {
        var size = 2 + 1  // flags, delivery mode
        if flags & 1 << 13 != 0 { size += 4 + headerBytes }
        if flags & 1 << 6 != 0 { size += 8 }
        for bit in 3...15 where flags & 1 << UInt16(bit) != 0 && bit != 13 && bit != 6 && bit != 12 {
            size += 1 + properties[bit].count
        }
        return size
    }
}
