/// A request as a server received it.
package struct HTTP2Request: Sendable {
    /// Where a field stands in `headerBytes`: the value follows its name.
    package struct Field: Hashable, Sendable {
        /// Where the name begins.
        package var start: Int
        /// Bytes of the name.
        package var nameCount: Int
        /// Bytes of the value.
        package var valueCount: Int

        /// The range of the name.
        package var name: Range<Int> {
            start..<start + nameCount
        }

        /// The range of the value.
        package var value: Range<Int> {
            start + nameCount..<start + nameCount + valueCount
        }
    }

    /// The stream to answer on.
    package var streamID: Int32
    /// The names and values of all fields, one after the other.
    package private(set) var headerBytes: [UInt8]
    /// The fields in the order they came in, pseudo-header fields and repeated ones included.
    package private(set) var fields: [Field]
    /// The body, or its beginning.
    package var body: [UInt8]
    /// Whether the body was longer than the session keeps.
    package var bodyTruncated: Bool

    /// Makes a request out of separate fields.
    ///
    /// - Parameters:
    ///   - streamID: The stream to answer on.
    ///   - headers: The fields in order.
    ///   - body: The body.
    ///   - bodyTruncated: Whether the body was longer.
    package init(
        streamID: Int32, headers: [(name: [UInt8], value: [UInt8])], body: [UInt8] = [], bodyTruncated: Bool = false
    ) {
        self.init(streamID: streamID)
        for (name, value) in headers { append(name: name.span, value: value.span) }
        self.body = body
        self.bodyTruncated = bodyTruncated
    }

    /// Makes a request without fields and body, to be filled as it comes in.
    ///
    /// - Parameter streamID: The stream to answer on.
    init(streamID: Int32) {
        self.streamID = streamID
        headerBytes = []
        fields = []
        body = []
        bodyTruncated = false
    }

    /// Copies of all fields in order. `headerBytes` and `fields` hold the same without copies.
    package var headers: [(name: [UInt8], value: [UInt8])] {
        fields.map { (Array(headerBytes[$0.name]), Array(headerBytes[$0.value])) }
    }

    /// Finds the first field of a name.
    ///
    /// - Parameter name: The name, in lower case.
    /// - Returns: Where its value stands in `headerBytes`, or `nil` without one.
    package func value(of name: StaticString) -> Range<Int>? {
        name.withUTF8Buffer { wanted in
            fields.first { headerBytes[$0.name].elementsEqual(wanted) }?.value
        }
    }

    /// Makes room for a usual request, so that it needs two allocations and not many.
    mutating func reserveUsualSize() {
        headerBytes.reserveCapacity(640)
        fields.reserveCapacity(16)
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - name: Its name; copied.
    ///   - value: Its value; copied.
    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        fields.append(Field(start: headerBytes.count, nameCount: name.count, valueCount: value.count))
        name.withUnsafeBufferPointer { headerBytes.append(contentsOf: $0) }
        value.withUnsafeBufferPointer { headerBytes.append(contentsOf: $0) }
    }
}
