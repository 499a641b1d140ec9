/// The header fields of one request or response: one byte buffer and entries pointing into it, made to be reused.
///
/// Names must be lower case. Pseudo-header fields come first (RFC 9113, 8.3). Once the buffers have grown, building a
/// block allocates nothing.
///
/// `.notIndexed` and `.neverIndexed` travel in the same form (literal never indexed, RFC 7541, 6.2.3), because the
/// library offers no third form. Even with `.indexed` the library sends `authorization` as never indexed and `:path`
/// without indexing.
package struct HeaderBlock: Sendable {
    /// How header compression treats a field (RFC 7541, 6.2).
    package enum Indexing: Hashable, Sendable {
        /// The field enters the compression table. From then on it costs one byte, while it stays among the first
        /// entries.
        case indexed
        /// The field stays out of the compression table: its value will not come again.
        case notIndexed
        /// The field stays out of every compression table on the way: its value is a secret.
        case neverIndexed
    }

    /// A position to return to with `truncate(to:)`.
    package struct Mark: Hashable, Sendable {
        let entries: Int
        let bytes: Int
    }

    /// A text that lives as long as the process, or a range of the byte buffer.
    enum Text: Sendable {
        case literal(StaticString)
        case stored(start: Int, count: Int)
    }

    /// One field.
    struct Entry: Sendable {
        var name: Text
        var value: Text
        var isIndexed: Bool
    }

    /// The stored names and values, one after the other.
    private(set) var bytes: [UInt8] = []
    /// The fields in their order.
    private(set) var entries: [Entry] = []
    private var open: (name: StaticString, isIndexed: Bool, start: Int)?

    /// Makes an empty block.
    package init() {}

    /// How many fields the block has.
    package var count: Int {
        entries.count
    }

    /// Removes all fields and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        open = nil
    }

    /// Adds a field with a value that changes.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - value: The value; copied.
    ///   - indexing: How header compression treats the field.
    package mutating func append(_ name: StaticString, _ value: Span<UInt8>, _ indexing: Indexing = .indexed) {
        let stored = store(value)
        entries.append(Entry(name: text(name), value: stored, isIndexed: indexing == .indexed))
    }

    /// Adds a field with a constant value.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - value: The value; not copied.
    ///   - indexing: How header compression treats the field.
    package mutating func append(_ name: StaticString, _ value: StaticString, _ indexing: Indexing = .indexed) {
        entries.append(Entry(name: text(name), value: text(value), isIndexed: indexing == .indexed))
    }

    /// Adds a field whose name is known only at run time.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case; copied.
    ///   - value: The value; copied.
    ///   - indexing: How header compression treats the field.
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>, _ indexing: Indexing = .indexed) {
        let storedName = store(name)
        let storedValue = store(value)
        entries.append(Entry(name: storedName, value: storedValue, isIndexed: indexing == .indexed))
    }

    /// Begins a field whose value is built in place; `endValue()` must follow.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - indexing: How header compression treats the field.
    package mutating func beginValue(_ name: StaticString, _ indexing: Indexing = .indexed) {
        precondition(open == nil, "a value is still being built")
        open = (name, indexing == .indexed, bytes.count)
    }

    /// Adds bytes to the value begun with `beginValue(_:_:)`.
    ///
    /// - Parameter piece: The bytes; copied.
    package mutating func appendPiece(_ piece: Span<UInt8>) {
        precondition(open != nil, "no value is being built")
        piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Adds text to the value begun with `beginValue(_:_:)`.
    ///
    /// - Parameter piece: The text; copied.
    package mutating func appendPiece(_ piece: StaticString) {
        precondition(open != nil, "no value is being built")
        piece.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Ends the value begun with `beginValue(_:_:)` and adds its field.
    package mutating func endValue() {
        guard let field = open else { preconditionFailure("no value is being built") }
        open = nil
        let value = Text.stored(start: field.start, count: bytes.count - field.start)
        entries.append(Entry(name: text(field.name), value: value, isIndexed: field.isIndexed))
    }

    /// The present end of the block.
    package var mark: Mark {
        Mark(entries: entries.count, bytes: bytes.count)
    }

    /// Drops all that was added after a mark, so that a constant beginning can be kept.
    ///
    /// - Parameter mark: A mark of this block. The block must not have been truncated to an earlier mark since.
    package mutating func truncate(to mark: Mark) {
        open = nil
        entries.removeSubrange(mark.entries...)
        bytes.removeSubrange(mark.bytes...)
    }

    /// Whether no pseudo-header field follows an ordinary one. A peer would reset a request with that order (RFC 9113,
    /// 8.3).
    var hasPseudoFieldsFirst: Bool {
        let isPseudo = entries.map { entry in
            switch entry.name {
            case .literal(let literal): literal.utf8Start.pointee == UInt8(ascii: ":")
            case .stored(let start, let count): count > 0 && bytes[start] == UInt8(ascii: ":")
            }
        }
        return !isPseudo.drop { $0 }.contains(true)
    }

    private mutating func store(_ value: Span<UInt8>) -> Text {
        let start = bytes.count
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        return .stored(start: start, count: value.count)
    }

    private mutating func text(_ literal: StaticString) -> Text {
        // A literal of one character may be held as that character instead of a pointer.
        guard !literal.hasPointerRepresentation else { return .literal(literal) }
        let start = bytes.count
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
        return .stored(start: start, count: bytes.count - start)
    }
}
