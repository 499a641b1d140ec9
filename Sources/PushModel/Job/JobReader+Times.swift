// Times that producers write, each in any of the forms that `WrittenTime` reads.
extension JobReader {
    /// A time in a header; nil, and a defect, where it is not a plausible one.
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
        case .other: fail(reason, "the header \(name) is neither a number nor a text; \(WrittenTime.remedy)")
        }
        return nil
    }

    /// A time in a field; nil where the field is absent, and a defect where it is not a plausible time.
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - field: Which field it is.
    ///   - reason: The reason of the defect.
    mutating func time(_ value: JSONValue?, _ field: JobField, _ reason: Reason) -> WrittenTime? {
        guard let value else { return nil }
        switch value.kind {
        case .string: return string(value, field).flatMap { time(at: $0, reason, "\(field)") }
        case .number where !value.flag: return time(at: value.range, reason, "\(field)")
        case .number: fail(reason, "\(field) is a number with a fraction or an exponent; \(WrittenTime.remedy)")
        default: fail(.badType, "\(field) must be a string or a whole number")
        }
        return nil
    }

    private mutating func time(
        at range: Range<Int>, _ reason: Reason, _ place: @autoclosure () -> String
    ) -> WrittenTime? {
        if let time = WrittenTime(job.bytes.span.extracting(range)) { return time }
        let refusal = WrittenTime.refusal(of: job.bytes.span.extracting(range))
        fail(reason, "\(place()) \(refusal)")
        return nil
    }

    /// When the producer queued the job: the header, else the property, which is ignored where it is not a plausible time.
    ///
    /// - Parameter timestamp: The property `timestamp`.
    mutating func readEnqueuedAt(_ timestamp: UInt64?) {
        let written =
            if let value = headers.enqueuedAt {
                time(value, HeaderName.enqueuedAt, .badHeaders)
            } else {
                timestamp.flatMap { WrittenTime(Int64(clamping: $0)) }
            }
        guard let written else { return }
        job.enqueuedAt = written.milliseconds
        job.isEnqueuedInSeconds = written.isInSeconds
    }

    /// The moment after which the job is not sent.
    mutating func readDeadline() {
        let written =
            if let value = headers.deadline {
                time(value, HeaderName.deadline, .badDeadline)
            } else {
                time(envelope.deadline, .deadline, .badDeadline)
            }
        job.deadline = written?.milliseconds
    }

    /// Apple's expiration: a time, or 0.
    mutating func readExpiration() {
        let isZero: Bool
        let written: WrittenTime?
        if form == .raw {
            guard let value = headers.expiration else { return }
            isZero = number(value) == 0
            written = isZero ? nil : time(value, HeaderName.expiration, .badExpirationDate)
        } else {
            guard let value = envelope.expiration else { return }
            isZero = job.bytes.span.extracting(value.range).wholeNumber() == 0
            written = isZero ? nil : time(value, .expiration, .badExpirationDate)
        }
        job.expiration = isZero ? 0 : written.map { $0.milliseconds / 1_000 }
    }
}
