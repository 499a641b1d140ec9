/// A regular expression that RabbitMQ matches with names: that of a policy, or of a user's permissions.
///
/// Other people write these expressions. A matcher that goes back and tries again takes for ever with some of them.
/// This one follows all ways through the expression at once. Its time grows with the length of the name, times that of
/// the expression. `regcomp` of Glibc is no help: anchors in repetitions take it exponential time and memory.
///
/// RabbitMQ has PCRE, and matches bytes. What this type does not read as PCRE does, it does not read at all.
/// [Regular expressions in Erlang](https://www.erlang.org/doc/apps/stdlib/re.html)
struct BrokerPattern: Sendable {
    /// The longest expression that is read, in bytes.
    static let longest = 1_000

    private let states: [PatternState]

    /// Reads an expression.
    ///
    /// - Parameter pattern: The expression.
    /// - Returns: Nil for what no expression is, for one that is too long, and for forms that are not read: counts of
    ///   repetitions, possessive repetitions, named classes, back-references, `(?` other than `(?:`, and escapes of
    ///   letters and digits other than `\d` and `\w`.
    init?(_ pattern: String) {
        guard pattern.utf8.count <= Self.longest else { return nil }
        var reader = PatternReader(pattern)
        guard reader.read() else { return nil }
        states = reader.states
    }

    /// Whether the expression matches a name, or a part of it.
    ///
    /// - Parameter name: The name.
    func matches(_ name: String) -> Bool {
        let name = Array(name.utf8)
        var seen = [Int](repeating: -1, count: states.count)
        var (open, waiting): ([Int], [Int]) = ([], [])
        for position in 0...name.count {
            // A match may begin at each position.
            open.append(PatternReader.whole.start)
            for state in waiting where states[state].takes(name[position - 1]) { open += states[state].next }
            waiting.removeAll(keepingCapacity: true)
            while let state = open.popLast() {
                guard seen[state] != position else { continue }
                seen[state] = position
                if state == PatternReader.whole.end { return true }
                switch states[state].condition {
                case .byte: waiting.append(state)
                case .start where position > 0: break
                case .end where !Self.isEnd(position, of: name): break
                case .none, .start, .end: open += states[state].next
                }
            }
        }
        return false
    }

    /// Whether `$` holds: at the end, and before a line end that is the last byte.
    private static func isEnd(_ position: Int, of name: [UInt8]) -> Bool {
        position == name.count || position == name.count - 1 && name[position] == UInt8(ascii: "\n")
    }
}

/// A place in an expression, and where ways go on from it.
private struct PatternState: Sendable {
    /// What a way needs to go on.
    enum Condition: Sendable {
        /// Nothing.
        case none
        /// The name's start.
        case start
        /// The name's end.
        case end
        /// One of some bytes, which the way takes.
        case byte(ByteSet)
    }

    /// What a way needs to go on.
    let condition: Condition
    /// The states after this one.
    var next: [Int] = []

    /// Whether a way goes on with a byte.
    func takes(_ byte: UInt8) -> Bool {
        if case .byte(let bytes) = condition { bytes.contains(byte) } else { false }
    }
}

/// Makes states of an expression, from its first byte to its last. It calls nothing for each nesting, so that no depth
/// can exhaust the stack.
private struct PatternReader {
    /// A part of the expression: all its ways lead from one state to another.
    struct Part {
        /// Where its ways begin.
        let start: Int
        /// Where they end.
        let end: Int
    }

    /// The whole expression.
    static let whole = Part(start: 0, end: 1)

    /// What was made so far.
    private(set) var states = [PatternState(condition: .none), PatternState(condition: .none)]
    /// What is still to be read.
    private var rest: ArraySlice<UInt8>
    /// The groups that are open, the innermost last.
    private var groups = [whole]
    /// Where what comes next is added.
    private var tail = whole.start
    /// What a repetition would repeat; nil where there is nothing.
    private var repeatable: Part?

    /// Prepares to read an expression.
    init(_ pattern: String) { rest = Array(pattern.utf8)[...] }

    /// Reads it to its end. False where it cannot be read.
    mutating func read() -> Bool {
        while let byte = rest.popFirst() {
            guard read(byte) else { return false }
        }
        link(tail, Self.whole.end)
        return groups.count == 1
    }

    private mutating func read(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "("): return open()
        case UInt8(ascii: ")"): return close()
        case UInt8(ascii: "|"):
            let group = groups[groups.count - 1]
            link(tail, group.end)
            (tail, repeatable) = (group.start, nil)
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): return repetition(byte)
        case UInt8(ascii: "{"): return false
        case UInt8(ascii: "^"): anchor(.start)
        case UInt8(ascii: "$"): anchor(.end)
        case UInt8(ascii: "."): take(ByteSet(UInt8(ascii: "\n")).inverted)
        case UInt8(ascii: "["):
            guard let bytes = bracket() else { return false }
            take(bytes)
        default:
            guard let bytes = element(byte) else { return false }
            take(bytes)
        }
        return true
    }

    // MARK: Groups and repetitions

    private mutating func open() -> Bool {
        if skip(UInt8(ascii: "?")), !skip(UInt8(ascii: ":")) { return false }
        let group = Part(start: state(.none), end: state(.none))
        link(tail, group.start)
        groups.append(group)
        (tail, repeatable) = (group.start, nil)
        return true
    }

    private mutating func close() -> Bool {
        guard groups.count > 1, let group = groups.popLast() else { return false }
        link(tail, group.end)
        (tail, repeatable) = (group.end, group)
        return true
    }

    private mutating func repetition(_ byte: UInt8) -> Bool {
        guard let part = repeatable else { return false }
        if byte != UInt8(ascii: "+") { link(part.start, part.end) }
        if byte != UInt8(ascii: "?") { link(part.end, part.start) }
        repeatable = nil
        // A lazy repetition matches the same names. A possessive one does not.
        return skip(UInt8(ascii: "?")) || rest.first != UInt8(ascii: "+")
    }

    // MARK: Bytes

    /// What is between brackets. The opening one was read.
    private mutating func bracket() -> ByteSet? {
        let isInverted = skip(UInt8(ascii: "^"))
        var (bytes, isFirst) = (ByteSet(), true)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "]"), !isFirst { return isInverted ? bytes.inverted : bytes }
            isFirst = false
            guard let first = bracketElement(byte) else { return nil }
            if isBeforeRange {
                rest.removeFirst()
                guard let end = rest.popFirst(), let last = bracketElement(end), let lower = first.only,
                    let upper = last.only, lower <= upper, !isBeforeRange
                else { return nil }
                bytes.insert(lower...upper)
            } else {
                bytes.insert(first)
            }
        }
        return nil
    }

    /// Whether a hyphen comes next that is not the last byte between brackets.
    private var isBeforeRange: Bool {
        rest.first == UInt8(ascii: "-") && rest.dropFirst().first != UInt8(ascii: "]")
    }

    /// What begins with a byte between brackets; nil for named classes, whose letters depend on RabbitMQ's tables.
    private mutating func bracketElement(_ byte: UInt8) -> ByteSet? {
        let isClass = byte == UInt8(ascii: "[") && rest.first.map(":.=".utf8.contains) ?? false
        return isClass ? nil : element(byte)
    }

    /// The byte itself, or what it escapes.
    private mutating func element(_ byte: UInt8) -> ByteSet? {
        guard byte == UInt8(ascii: "\\") else { return ByteSet(byte) }
        guard let escaped = rest.popFirst() else { return nil }
        if escaped == UInt8(ascii: "d") { return .digits }
        if escaped == UInt8(ascii: "w") { return .wordCharacters }
        // Of other letters and digits each has a meaning of its own.
        return escaped != UInt8(ascii: "_") && escaped < 0x80 && ByteSet.wordCharacters.contains(escaped)
            ? nil : ByteSet(escaped)
    }

    // MARK: States

    private mutating func take(_ bytes: ByteSet) {
        let part = Part(start: state(.none), end: state(.none))
        let step = state(.byte(bytes))
        link(tail, part.start)
        link(part.start, step)
        link(step, part.end)
        (tail, repeatable) = (part.end, part)
    }

    private mutating func anchor(_ condition: PatternState.Condition) {
        let anchor = state(condition)
        link(tail, anchor)
        (tail, repeatable) = (anchor, nil)
    }

    private mutating func state(_ condition: PatternState.Condition) -> Int {
        states.append(PatternState(condition: condition))
        return states.count - 1
    }

    private mutating func link(_ state: Int, _ next: Int) { states[state].next.append(next) }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }
}

/// A set of bytes.
private struct ByteSet: Sendable {
    private var words = SIMD4<UInt64>.zero

    /// What `\d` stands for.
    static let digits = ByteSet(0x30...0x39)
    /// What `\w` stands for: Erlang gives PCRE the letters of Latin-1.
    static let wordCharacters = ByteSet(
        0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a, 0xaa...0xaa, 0xb5...0xb5, 0xba...0xba, 0xc0...0xd6,
        0xd8...0xf6, 0xf8...0xff)

    /// A set of some ranges.
    init(_ ranges: ClosedRange<UInt8>...) {
        for range in ranges { insert(range) }
    }

    /// A set of one byte.
    init(_ byte: UInt8) { insert(byte...byte) }

    /// All other bytes.
    var inverted: ByteSet {
        var other = self
        other.words = ~words
        return other
    }

    /// The one byte of the set; nil where there are none or several.
    var only: UInt8? {
        let all = (UInt8.min...UInt8.max).filter(contains)
        return all.count == 1 ? all.first : nil
    }

    /// Whether a byte is in the set.
    func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1 }

    /// Adds a range.
    mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
    }

    /// Adds another set.
    mutating func insert(_ other: ByteSet) { words |= other.words }
}
