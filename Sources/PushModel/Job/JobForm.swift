/// The two forms of a job: the payload alone, with headers beside it; or one JSON object with everything.
enum JobForm: Sendable {
    /// The form, as its page names it.
    case raw, enveloped

    /// The form that a content type stands for; nil for another type.
    init?(_ contentType: Span<UInt8>) {
        if contentType.isMediaType(MessageName.rawContentType) {
            self = .raw
        } else if contentType.isMediaType(MessageName.jsonContentType) {
            self = .enveloped
        } else {
            return nil
        }
    }

    /// Whether a body with this content encoding is not encoded. Both forms need that.
    static func isIdentity(_ contentEncoding: Span<UInt8>) -> Bool {
        // Some client libraries state a character set here.
        contentEncoding.count == 0 || contentEncoding.isMediaType("identity") || contentEncoding.isMediaType("utf-8")
            || contentEncoding.isMediaType("binary")
    }
}

extension Span where Element == UInt8 {
    /// Whether this is the media type, in any case, with or without parameters.
    fileprivate func isMediaType(_ type: StaticString) -> Bool {
        let length = type.utf8CodeUnitCount
        guard count >= length else { return false }
        if count == length, matches(type) { return true }
        for index in 0..<length where self[index] | 0x20 != type.utf8Start[index] | 0x20 { return false }
        return count == length || self[length] == UInt8(ascii: ";") || self[length] == UInt8(ascii: " ")
    }
}
