/// Writes words into command lines for a POSIX shell:
/// [quoting](https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_02).
package enum ShellText {
    /// Writes a word for a shell. A harmless word stays as it is; any other word gets single quotes.
    ///
    /// - Parameter text: The word.
    package static func quoted(_ text: String) -> String {
        let isHarmless =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "/"):
                    true
                default: false
                }
            }
        return isHarmless ? text : inQuotes(text)
    }

    /// A word for a shell in single quotes, harmless or not.
    ///
    /// - Parameter text: What the word says.
    package static func inQuotes(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
