/// What programs write before a text to say how it is encoded (RFC 3629, 6). UTF-8 needs no mark, but programs for
/// Windows write one.
package enum ByteOrderMark {
    /// What is wrong with a text in UTF-16, and what to do, for a sentence that names the text first.
    package static let utf16 = "it is written in UTF-16: save it in UTF-8"

    /// How many bytes stand before the content of a text that should be UTF-8: 3 for a mark, else 0.
    ///
    /// - Returns: Nil for a text in UTF-16 or UTF-32. It has a mark of its own, or a zero byte beside its first character.
    package static func length(before text: Span<UInt8>) -> Int? {
        guard text.count >= 2 else { return 0 }
        switch (text[0], text[1]) {
        case (0xEF, 0xBB): return text.count >= 3 && text[2] == 0xBF ? 3 : 0
        case (0xFF, 0xFE), (0xFE, 0xFF): return nil
        case (0, 0): return text.count >= 4 && text[2] == 0xFE && text[3] == 0xFF ? nil : 0
        case (0, 0x01...0x7F), (0x01...0x7F, 0): return nil
        default: return 0
        }
    }
}
