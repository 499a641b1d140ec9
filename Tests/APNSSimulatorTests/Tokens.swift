/// Device tokens for tests.
enum Tokens {
    /// A device token of 64 digits that begins with the given ones.
    static func beginning(_ prefix: String) -> String {
        prefix + String(repeating: "0", count: 64 - prefix.utf8.count)
    }
}
