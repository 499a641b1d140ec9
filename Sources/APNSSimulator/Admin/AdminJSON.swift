import FoundationEssentials

/// Writes JSON for the admin API. The views are `Encodable`, so Foundation's encoder does the work. The module `Text`
/// does without Foundation.
enum AdminJSON {
    /// Writes a value.
    ///
    /// - Parameter value: Anything that has a JSON form.
    /// - Returns: One line of JSON without its line end.
    static func bytes(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // The views hold strings, numbers and flags only, which always have a JSON form.
        return (try? encoder.encode(value)).map([UInt8].init) ?? Array("null".utf8)
    }
}
