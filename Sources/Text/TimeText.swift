/// Lengths of time and counts as people read them.
package enum TimeText {
    /// A length of time in the unit that reads best, as `41 ms`, `2.5 s`, `3 m 20 s`.
    ///
    /// - Parameter milliseconds: The length.
    package static func length(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        case ..<3_600_000: "\(milliseconds / 60_000) m \(milliseconds / 1000 % 60) s"
        default: "\(milliseconds / 3_600_000) h \(milliseconds / 60_000 % 60) m"
        }
    }

    /// A count with a space between thousands, as `20 000`.
    ///
    /// - Parameter value: The count.
    package static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(" ") }
            text.append(digit)
        }
        return text
    }
}
