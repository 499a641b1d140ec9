/// Numbers of bytes as people write them: a whole number and `KiB`, `MiB`, `GiB` or `TiB`.
package enum SizeText {
    private static let units: [(suffix: String, bytes: Int)] = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ]

    /// Reads a size; nil for other text, and for one too large to count.
    package static func parse(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
        else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
        return overflow ? nil : bytes
    }

    /// Writes a size, fractions of a KiB dropped, in the largest unit that divides it.
    package static func write(_ bytes: Int) -> String {
        let kibibytes = bytes >> 10
        let unit = units.last { kibibytes % ($0.bytes >> 10) == 0 && kibibytes != 0 } ?? units[0]
        return "\(kibibytes / (unit.bytes >> 10))\(unit.suffix)"
    }
}
