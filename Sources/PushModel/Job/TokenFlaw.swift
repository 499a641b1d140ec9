/// What can be wrong with a device token before APNs sees it.
enum TokenFlaw: UInt8, Sendable {
    /// Nothing, or what `defect` puts into words.
    case none, notText, empty, tooLong, notHexadecimal, oddLength
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
            self = .notHexadecimal
        } else {
            self = token.count % 2 == 0 ? .none : .oddLength
        }
    }
}
