import Text

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
            || contentEncoding.isMediaType("utf8") || contentEncoding.isMediaType("binary")
    }
}

/// How the body of a job begins.
enum BodyBeginning {
    /// The content begins after so many bytes of a byte order mark. RFC 8259, 8.1 lets a reader ignore the mark.
    case text(after: Int)
    /// The body is compressed, which no JSON text can begin as.
    case compressed(StaticString)
    /// The body is written in UTF-16.
    case utf16

    /// Looks at a body.
    @inline(__always)
    init(_ body: Span<UInt8>) {
        // Nearly all bodies begin so.
        guard body.count >= 2, body[0] != UInt8(ascii: "{") || body[1] == 0 else {
            self = .text(after: 0)
            return
        }
        self.init(unusual: body)
    }

    private init(unusual body: Span<UInt8>) {
        switch (body[0], body[1]) {
        case (0x1F, 0x8B): self = .compressed("gzip")
        // RFC 1950, 2.2: the four levels, with the usual window.
        case (0x78, 0x01), (0x78, 0x5E), (0x78, 0x9C), (0x78, 0xDA): self = .compressed("zlib")
        case (0x28, 0xB5): self = .compressed("Zstandard")
        default: self = ByteOrderMark.length(before: body).map { .text(after: $0) } ?? .utf16
        }
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
