import Text

/// The device tokens of a job: one, or a list of up to 1,000. A bad token of a list does not fail the others.
///
/// The tokens stay where they stand in the job's buffer.
struct DeviceTokens: Sendable {
    /// A device token of a multicast job: where it stands, and what is wrong with it.
    struct Slice: Sendable, Equatable {
        /// The first byte in the job's buffer.
        var start: UInt32
        /// Its length in bytes.
        var length: UInt16
        /// What is wrong with it.
        var flaw: TokenFlaw
    }

    /// The tokens of a multicast job.
    private var list: [Slice] = []
    /// The one token of a job that is not a multicast job; nil if the job has none, or a bad one.
    @PackedIfAny private var single: Range<Int>?
    /// What is wrong with the one token.
    private var singleFlaw = TokenFlaw.none
    /// Whether the job was written with `device_tokens`.
    private(set) var isMulticast = false

    /// No device tokens, as for a job about a broadcast channel.
    init() {}

    /// Reads the device tokens of a job.
    init(reading written: inout WrittenJob) {
        if written.form == .raw {
            if let value = written.headers.deviceToken {
                takeSingle(Self.text(value, &written), &written)
            } else {
                written.fail(.missingDeviceToken, "the header \(HeaderName.deviceToken) is missing")
            }
        } else if let value = written.envelope.deviceTokens {
            if written.envelope.deviceToken != nil {
                written.fail(
                    .ambiguousDeviceToken, "give either \(JobField.deviceToken) or \(JobField.deviceTokens), not both")
            }
            isMulticast = true
            readList(value, &written)
        } else if let token = written.envelope.deviceToken {
            takeSingle(written.text(token, .deviceToken), &written)
        } else if written.form == .enveloped {
            written.fail(
                .missingDeviceToken,
                written.headers.hasRawFields
                    ? "\(JobField.deviceToken) is missing; headers apns-… count only with \(MessageName.rawContentType)"
                    : "the job has neither \(JobField.deviceToken) nor \(JobField.deviceTokens)")
        }
    }

    /// How many device tokens the job has. Bad ones of a list count; a bad single token does not.
    var count: Int { isMulticast ? list.count : (single == nil ? 0 : 1) }

    /// Where the hexadecimal digits of a device token stand in the job's buffer; empty if the job has none.
    ///
    /// - Parameter index: From 0, below `count`.
    subscript(index: Int) -> Range<Int> {
        guard isMulticast else { return single ?? 0..<0 }
        let token = list[index]
        return Int(token.start)..<(Int(token.start) + Int(token.length))
    }

    /// What is wrong with a device token.
    ///
    /// - Parameter index: From 0, below `count`. Also 0 for the bad token of a job that is not a multicast job.
    func flaw(_ index: Int) -> TokenFlaw { isMulticast ? list[index].flaw : singleFlaw }

    private mutating func takeSingle(_ range: Range<Int>?, _ written: inout WrittenJob) {
        guard let range else { return }
        singleFlaw = TokenFlaw(written.bytes.span.extracting(range))
        if let defect = singleFlaw.defect {
            written.fail(defect.reason, defect.detail)
        } else {
            single = range
        }
    }

    /// A token in a header, as hexadecimal text.
    private static func text(_ value: HeaderValue, _ written: inout WrittenJob) -> Range<Int>? {
        switch value {
        case .text(let range): return range
        case .bytes(let range):
            let start = written.bytes.count
            // More bytes than that are refused as too long without being spelled out.
            guard range.count <= Job.maximumTokenLength else { return range }
            written.bytes.reserveCapacity(start + range.count * 2)
            for index in range { HexText.append(written.bytes[index], to: &written.bytes) }
            return start..<written.bytes.count
        case .integer, .timestamp, .other:
            written.fail(
                .badDeviceToken,
                "the header \(HeaderName.deviceToken) is \(value.kindName), and must be hexadecimal text, or bytes")
            return nil
        }
    }

    private mutating func readList(_ value: JSONValue, _ written: inout WrittenJob) {
        guard value.kind == .array else {
            return written.fail(.badType, "\(JobField.deviceTokens) must be an array of strings")
        }
        do throws(JSONError) {
            try scanList(value.range, &written)
        } catch {
            // The array was validated with the body, so this is unreachable. If it happens, it must not be silent.
            written.fail(.badJSON, "\(JobField.deviceTokens): " + error.detail)
        }
        if list.isEmpty, written.defect?.reason != .tooManyTokens {
            written.fail(.missingDeviceToken, "\(JobField.deviceTokens) is empty")
        }
    }

    private mutating func scanList(_ range: Range<Int>, _ written: inout WrittenJob) throws(JSONError) {
        var scanner = JSONScanner(range)
        guard try scanner.enterArray(in: written.bytes.span) else { return }
        // Room for tokens of the usual size, so that most lists are allocated once.
        list.reserveCapacity(min(Job.maximumTokens, range.count / 67 + 1))
        while try scanner.hasElement(in: written.bytes.span) {
            guard list.count < Job.maximumTokens else {
                // Without any tokens the job has one result. Results for some of the tokens would mislead.
                list = []
                return written.fail(
                    .tooManyTokens,
                    "\(JobField.deviceTokens) has more than \(Job.maximumTokens) entries; split the job")
            }
            let value = try scanner.value(in: written.bytes.span)
            list.append(Slice(value, in: &written.bytes))
        }
    }
}

extension DeviceTokens.Slice {
    /// Judges an element of a list. The text of an element with escapes is appended to the buffer.
    fileprivate init(_ value: JSONValue, in bytes: inout [UInt8]) {
        guard value.kind == .string else {
            self.init(start: 0, length: 0, flaw: .notText)
            return
        }
        var text = value.range
        if value.flag {
            guard let unescaped = JSONText.unescape(text, in: &bytes) else {
                self.init(start: 0, length: 0, flaw: .notHexadecimal)
                return
            }
            text = unescaped
        }
        self.init(
            start: UInt32(truncatingIfNeeded: text.lowerBound), length: UInt16(clamping: text.count),
            flaw: TokenFlaw(bytes.span.extracting(text)))
    }
}
