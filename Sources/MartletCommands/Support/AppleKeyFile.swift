/// The file of a provider token's key, which Apple calls `AuthKey_<key id>.p8`.
enum AppleKeyFile {
    /// A sentence where the name of a key's file has another key's identifier; nil where the two agree, and for a file
    /// whose name is not of Apple's form.
    ///
    /// - Parameters:
    ///   - path: The setting `key_file`.
    ///   - keyID: The setting `key_id`.
    static func mismatch(_ path: String, keyID: String) -> String? {
        guard let file = path.split(separator: "/").last, file.hasPrefix("AuthKey_"), file.hasSuffix(".p8") else {
            return nil
        }
        let named = file.dropFirst("AuthKey_".count).dropLast(".p8".count)
        // A file may be kept under a longer name, such as one with a date.
        guard named.utf8.count == keyID.utf8.count, named != keyID else { return nil }
        return "key_id is \(keyID), but the file \(file) is Apple's name for the key \(named)"
    }
}
