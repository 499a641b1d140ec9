// Reads values as the kinds that they must have. A value of another kind is a defect; an absent field is not.
extension WrittenJob {
    /// A whole number in a header: an integer, or its decimal digits. Nil for anything else, without a defect.
    func number(_ value: HeaderValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .text(let range), .bytes(let range): bytes.span.extracting(range).wholeNumber()
        case .timestamp, .other: nil
        }
    }

    /// Text in a header. A number becomes its digits. Other kinds fail with the reason, and bytes that are not UTF-8
    /// with `badEncoding`.
    mutating func text(_ value: HeaderValue, _ name: StaticString, _ reason: Reason) -> Range<Int>? {
        switch value {
        case .text(let range), .bytes(let range):
            if bytes.span.extracting(range).isUTF8() { return range }
            fail(.badEncoding, "the header \(name) is not valid UTF-8")
        case .integer(let number):
            let start = bytes.count
            bytes.append(decimal: number)
            return start..<bytes.count
        case .timestamp, .other:
            fail(reason, "the header \(name) is \(value.kindName), and must be text")
        }
        return nil
    }

    /// The text of a string field without escapes; nil if the field is absent or null. Another type is a defect, and
    /// half of a surrogate pair is one, too.
    mutating func text(_ value: JSONValue?, _ field: JobField) -> Range<Int>? {
        guard let value else { return nil }
        guard value.kind == .string else {
            fail(.badType, "\(field) must be a string")
            return nil
        }
        guard value.flag else { return value.range }
        if let text = JSONText.unescape(value.range, in: &bytes) { return text }
        fail(.badEncoding, "\(field) contains half of a surrogate pair")
        return nil
    }

    /// A whole-number field; nil if the field is absent or null. Another type is a defect.
    mutating func integer(_ value: JSONValue?, _ field: JobField) -> Int64? {
        guard let value else { return nil }
        if value.kind == .number, !value.flag, let number = bytes.span.extracting(value.range).wholeNumber() {
            return number
        }
        fail(.badType, "\(field) must be a whole number")
        return nil
    }

    /// A time in a header. A value that is not a plausible time gives nil and a defect.
    ///
    /// - Parameters:
    ///   - value: The header's value.
    ///   - name: Its name.
    ///   - reason: The reason of the defect.
    mutating func time(_ value: HeaderValue, _ name: StaticString, _ reason: Reason) -> WrittenTime? {
        switch value {
        case .timestamp(let seconds): return time(.integer(Int64(clamping: seconds)), name, reason)
        case .integer(let number):
            if let time = WrittenTime(number) { return time }
            fail(reason, "the header \(name) \(WrittenTime.refusal(of: number))")
        case .text(let range), .bytes(let range): return time(at: range, reason, "the header \(name)")
        case .other: fail(reason, "the header \(name) is \(value.kindName); \(WrittenTime.remedy)")
        }
        return nil
    }

    /// A time in a field; nil if the field is absent. A value that is not a plausible time gives nil and a defect.
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - field: Which field it is.
    ///   - reason: The reason of the defect.
    mutating func time(_ value: JSONValue?, _ field: JobField, _ reason: Reason) -> WrittenTime? {
        guard let value else { return nil }
        switch value.kind {
        case .string: return text(value, field).flatMap { time(at: $0, reason, "\(field)") }
        case .number where !value.flag: return time(at: value.range, reason, "\(field)")
        case .number: fail(reason, "\(field) is a number with a fraction or an exponent; \(WrittenTime.remedy)")
        default: fail(.badType, "\(field) must be a string or a whole number")
        }
        return nil
    }

    private mutating func time(
        at range: Range<Int>, _ reason: Reason, _ place: @autoclosure () -> String
    ) -> WrittenTime? {
        if let time = WrittenTime(bytes.span.extracting(range)) { return time }
        let refusal = WrittenTime.refusal(of: bytes.span.extracting(range))
        fail(reason, "\(place()) \(refusal)")
        return nil
    }
}
