/// What can be wrong with a device token before APNs sees it.
enum TokenFlaw: UInt8, Sendable {
    /// Nothing, or what `defect` puts into words.
    case none, notText, empty, tooLong, notHexadecimal, oddLength, raw
}

extension TokenFlaw {
    /// The flaw in words; nil for `none`.
    var defect: Defect? {
        switch self {
        case .none: nil
        case .notText: Defect(reason: .badDeviceToken, detail: "the device token must be text")
        case .empty: Defect(reason: .missingDeviceToken, detail: "the device token is empty")
        case .tooLong:
            Defect(
                reason: .badDeviceToken,
                detail: "the device token has more than \(Job.maximumTokenLength) characters")
        case .notHexadecimal:
            Defect(
                reason: .badDeviceToken, detail: "the device token must consist of hexadecimal digits and nothing else")
        case .raw:
            Defect(
                reason: .badDeviceToken,
                detail: "the device token is not text but raw bytes: send its hexadecimal digits as a string. Binary "
                    + "of AMQP 1.0 arrives as text that no worker can read; AMQP 0-9-1 has the type x for bytes")
        case .oddLength:
            Defect(
                reason: .badDeviceToken,
                detail:
                    "the device token has an odd number of hexadecimal digits, and two make a byte: is it complete?")
        }
    }

    /// Judges the text of a device token.
    init(_ token: Span<UInt8>) {
        if token.count == 0 {
            self = .empty
        } else if token.count > Job.maximumTokenLength {
            self = .tooLong
        } else if !token.isHexadecimal() {
            self = token.hasUnprintableBytes ? .raw : .notHexadecimal
        } else {
            self = token.count % 2 == 0 ? .none : .oddLength
        }
    }
}

extension Span where Element == UInt8 {
    /// Whether any byte is a control character or not ASCII: 32 random bytes are hardly ever all printable.
    fileprivate var hasUnprintableBytes: Bool {
        for position in indices where !(0x20...0x7E).contains(self[position]) { return true }
        return false
    }
}
