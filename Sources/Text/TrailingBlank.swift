/// A blank at the end of a password, which people do not see when it is refused.
package enum TrailingBlank {
    /// A hint that names it, to follow the words about a refused password; nil without one.
    ///
    /// - Parameter password: Its bytes; nil for none.
    package static func hint(_ password: [UInt8]?) -> String? {
        guard let password, let last = password.last else { return nil }
        // A tab, or the last byte of U+00A0.
        let isBlank = last == 0x20 || last == 0x09 || password.suffix(2) == [0xC2, 0xA0]
        return isBlank ? "it ends with a blank: does the blank belong to it?" : nil
    }
}
