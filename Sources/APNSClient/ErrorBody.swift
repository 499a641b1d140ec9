import PushModel

/// The contents of the JSON body of a refusal.
struct ErrorBody {
    /// How many bytes of a reason are kept. A reason becomes a header of a dead letter, whose size has a limit. Apple's
    /// reasons are shorter than 30 bytes.
    static let reasonLimit = 256
    /// Its `reason`. A reason that Martlet does not know is kept as text.
    private(set) var reason: Reason?
    /// Its `timestamp`, in milliseconds since 1970.
    private(set) var timestamp: Int64?

    /// Reads a body. What cannot be read is left out.
    ///
    /// - Parameter bytes: The body. Grows if the reason has escapes: the text without escapes is appended.
    init(reading bytes: inout [UInt8]) {
        var scanner = JSONScanner(0..<bytes.count)
        do throws(JSONError) {
            guard try scanner.enterObject(in: bytes.span) else { return }
            while let name = try scanner.nextName(in: bytes.span) {
                let value = try scanner.value(in: bytes.span)
                let isReason = bytes.span.extracting(name.range).isEqual(to: "reason")
                let isTimestamp = bytes.span.extracting(name.range).isEqual(to: "timestamp")
                if isReason, value.kind == .string {
                    let text = value.flag ? JSONText.unescape(value.range, in: &bytes) : value.range
                    if let text, !text.isEmpty {
                        reason = Reason(utf8: bytes.span.extracting(text.prefix(Self.reasonLimit)))
                    }
                } else if isTimestamp, value.kind == .number, !value.flag {
                    timestamp = DecimalText.number(bytes.span.extracting(value.range))
                }
            }
        } catch {
            // The status of the answer counts even if the body breaks off. So do the members read before the error.
        }
    }
}
