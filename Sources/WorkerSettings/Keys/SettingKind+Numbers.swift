import PushModel
import Text

extension SettingKind where Value == Int {
    /// A whole number within limits.
    static func integer(_ limits: ClosedRange<Int>) -> SettingKind {
        let words = "\(limits.lowerBound) to \(limits.upperBound)"
        return SettingKind("number", words) { (text: String) throws(Rejection) -> Int in
            guard let value = Int(text) else { throw Rejection("\"\(text)\" is not a whole number") }
            return try within(limits, value, text, words)
        }
    }

    /// How many results one message may have: a whole number up to a limit, or `off`, which is 1.
    ///
    /// YAML 1.1 takes `off` for a boolean, so a tool that loads a file and writes it again makes it `false`.
    static func batch(upTo most: Int) -> SettingKind {
        let words = "1 to \(most)"
        return SettingKind("number or `off`", words, write: { $0 == 1 ? "off" : "\($0)" }) {
            (text: String) throws(Rejection) -> Int in
            if text == "off" || text == "false" { return 1 }
            guard let value = Int(text) else { throw Rejection("\"\(text)\" is neither \"off\" nor a whole number") }
            return try within(1...most, value, text, words)
        }
    }

    /// A number of bytes within limits, written as in `512KiB`, `256MiB` or `2GiB`.
    static func size(_ limits: ClosedRange<Int>) -> SettingKind {
        let words = "\(SizeText.write(limits.lowerBound)) to \(SizeText.write(limits.upperBound))"
        return SettingKind("size", words, write: SizeText.write) { (text: String) throws(Rejection) -> Int in
            guard let value = SizeText.parse(text) else {
                throw Rejection(
                    "\"\(text)\" is not a size: write a whole number and a unit, as in 512KiB, 256MiB or 2GiB")
            }
            return try within(limits, value, text, words)
        }
    }
}

extension SettingKind where Value == AutomaticOr<Int> {
    /// `auto`, or a whole number within limits.
    static func automatic(_ limits: ClosedRange<Int>) -> SettingKind {
        let words = "\(limits.lowerBound) to \(limits.upperBound)"
        return SettingKind("number or `auto`", words) { (text: String) throws(Rejection) -> Value in
            if text == "auto" { return .automatic }
            guard let value = Int(text) else { throw Rejection("\"\(text)\" is neither \"auto\" nor a whole number") }
            return .fixed(try within(limits, value, text, words))
        }
    }
}

extension SettingKind where Value == Double {
    /// A number within limits, fractions allowed.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - unit: What is counted, in words.
    static func number(_ limits: ClosedRange<Double>, _ unit: String) -> SettingKind {
        let words = "\(written(limits.lowerBound)) to \(written(limits.upperBound)) \(unit)"
        return SettingKind("number", words, write: written) { (text: String) throws(Rejection) -> Double in
            guard let value = Double(text), value.isFinite else { throw Rejection("\"\(text)\" is not a number") }
            return try within(limits, value, text, words)
        }
    }

    /// A number as people write it: without a fraction where it is whole.
    @Sendable private static func written(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

extension SettingKind where Value == Duration {
    /// A duration within limits, written as in `250ms`, `1.5s` or `6h`.
    static func duration(_ limits: ClosedRange<Duration>) -> SettingKind {
        let words = "\(DurationText.write(limits.lowerBound)) to \(DurationText.write(limits.upperBound))"
        return SettingKind("duration", words, write: DurationText.write) {
            (text: String) throws(Rejection) -> Duration in
            guard let value = DurationText.parse(text) else {
                throw Rejection(
                    "\"\(text)\" is not a duration: write \(DurationText.form), as in 250ms, 1.5s or 6h")
            }
            return try within(limits, value, text, words)
        }
    }
}

extension SettingKind where Value == Bool {
    /// `true` or `false`; YAML's other spellings are refused so that nobody has to know them.
    static var boolean: SettingKind {
        SettingKind("boolean") { (text: String) throws(Rejection) -> Bool in
            switch text {
            case "true": return true
            case "false": return false
            default: throw Rejection("\"\(text)\" is neither true nor false")
            }
        }
    }
}

/// Refuses a value outside of limits.
private func within<Value: Comparable>(
    _ limits: ClosedRange<Value>, _ value: Value, _ text: String, _ words: String
) throws(Rejection) -> Value {
    guard limits.contains(value) else { throw Rejection("\(text) is out of range: \(words)") }
    return value
}
