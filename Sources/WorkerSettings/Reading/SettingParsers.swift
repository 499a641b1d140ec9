import PushModel
import Text

/// How the text of each kind of setting is read. Each throws a ``Rejection`` that says what would be right.
enum SettingParsers {
    /// Any text but none.
    static func text(_ text: String) throws(Rejection) -> String {
        guard !text.isEmpty else { throw Rejection("must not be empty") }
        return text
    }

    /// A whole number within limits.
    static func integer(_ range: ClosedRange<Int>) -> (String) throws(Rejection) -> Int {
        { (text: String) throws(Rejection) -> Int in
            guard let value = Int(text) else { throw Rejection("\"\(text)\" is not a whole number") }
            guard range.contains(value) else {
                throw Rejection("\(value) is out of range: \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
    }

    /// `auto`, or a whole number within limits.
    static func automatic(_ range: ClosedRange<Int>) -> (String) throws(Rejection) -> AutomaticOr<Int> {
        { (text: String) throws(Rejection) -> AutomaticOr<Int> in
            if text == "auto" { return .automatic }
            guard Int(text) != nil else { throw Rejection("\"\(text)\" is neither \"auto\" nor a whole number") }
            return .fixed(try integer(range)(text))
        }
    }

    /// A number within limits, fractions allowed.
    ///
    /// - Parameters:
    ///   - range: The limits.
    ///   - unit: What is counted, in words.
    static func number(_ range: ClosedRange<Double>, _ unit: String) -> (String) throws(Rejection) -> Double {
        { (text: String) throws(Rejection) -> Double in
            guard let value = Double(text), value.isFinite else { throw Rejection("\"\(text)\" is not a number") }
            guard range.contains(value) else {
                throw Rejection(
                    "\(text) is out of range: \(written(range.lowerBound)) to \(written(range.upperBound)) \(unit)")
            }
            return value
        }
    }

    /// A number as people write it: without a fraction where it is whole.
    private static func written(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

    /// `true` or `false`; YAML's other spellings are refused so that nobody has to know them.
    static func boolean(_ text: String) throws(Rejection) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        default: throw Rejection("\"\(text)\" is neither true nor false")
        }
    }

    /// A duration within limits, written as in `250ms`, `1.5s` or `6h`.
    static func duration(_ range: ClosedRange<Duration>) -> (String) throws(Rejection) -> Duration {
        { (text: String) throws(Rejection) -> Duration in
            guard let value = DurationText.parse(text) else {
                throw Rejection(
                    "\"\(text)\" is not a duration: write \(DurationText.form), as in 250ms, 1.5s or 6h")
            }
            guard range.contains(value) else {
                throw Rejection(
                    "\(text) is out of range: \(DurationText.write(range.lowerBound)) to "
                        + DurationText.write(range.upperBound))
            }
            return value
        }
    }

    /// A number of bytes within limits, written as in `512KiB`, `256MiB` or `2GiB`.
    static func size(_ range: ClosedRange<Int>) -> (String) throws(Rejection) -> Int {
        { (text: String) throws(Rejection) -> Int in
            guard let value = SizeText.parse(text) else {
                throw Rejection(
                    "\"\(text)\" is not a size: write a whole number and a unit, as in 512KiB, 256MiB or 2GiB")
            }
            guard range.contains(value) else {
                throw Rejection(
                    "\(text) is out of range: \(SizeText.write(range.lowerBound)) to "
                        + SizeText.write(range.upperBound))
            }
            return value
        }
    }

    /// One of the cases of an enumeration.
    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type
    ) -> (String) throws(Rejection) -> Choice where Choice.RawValue == String {
        { (text: String) throws(Rejection) -> Choice in
            if let value = Choice(rawValue: text) { return value }
            let names = Choice.allCases.map(\.rawValue)
            throw Rejection(
                "\"\(text)\" is not one of \(names.joined(separator: ", "))."
                    + Suggestion.sentence(for: text, among: names)
            )
        }
    }

    /// Text of some length made of some bytes.
    ///
    /// - Parameters:
    ///   - length: How many bytes it may have.
    ///   - description: The rule in words.
    ///   - allows: Whether a byte may occur.
    static func name(
        _ length: ClosedRange<Int>, _ description: String, _ allows: @escaping (UInt8) -> Bool
    ) -> (String) throws(Rejection) -> String {
        { (text: String) throws(Rejection) -> String in
            guard length.contains(text.utf8.count), text.utf8.allSatisfy(allows) else {
                throw Rejection("\"\(text)\" must be \(description)")
            }
            return text
        }
    }
}
