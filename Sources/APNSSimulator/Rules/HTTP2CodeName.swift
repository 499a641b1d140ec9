/// The names of HTTP/2's error codes, [RFC 9113 section 7](https://www.rfc-editor.org/rfc/rfc9113#section-7).
enum HTTP2CodeName {
    /// The names in the order of their numbers.
    static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The name of a code, or its number where it has none.
    ///
    /// - Parameter code: The error code.
    static func name(of code: UInt32) -> String {
        code < UInt32(names.count) ? names[Int(code)] : String(code)
    }

    /// The code of a name or a number.
    ///
    /// - Parameter text: Such as `REFUSED_STREAM`, in upper or lower case, or `7`.
    /// - Returns: The code, or nil where it is neither.
    static func code(of text: String) -> UInt32? {
        let wanted = text.uppercased()
        return names.firstIndex(of: wanted).map(UInt32.init) ?? UInt32(text)
    }
}
