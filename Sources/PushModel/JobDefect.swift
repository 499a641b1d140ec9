/// One thing that is wrong with a job or one of its device tokens.
package struct Defect: Sendable, Equatable {
    /// The reason as results spell it.
    package var reason: Reason
    /// A sentence a person can act on; never holds a device token or payload.
    package var detail: String
}

/// Why a job is `invalid`, with all that could still be read of it, so that a result can be written.
package struct JobDefect: Error, Sendable {
    /// The reason as results spell it.
    package var reason: Reason
    /// A sentence a person can act on; never holds a device token or payload.
    package var detail: String
    /// The job as far as it was read; always has an id, but perhaps no topic, environment or token.
    ///
    /// Where its tokens could be read there is a result for each notification it is about; else one with index 0.
    package var job: Job

    /// What the result says.
    package var report: FinalReport { FinalReport(.invalid, .fixRequest, reason: reason, detail: detail) }
}

extension TokenFlaw {
    /// The flaw in words, nil for none.
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
        }
    }

    /// Judges the text of a device token.
    init(_ token: Span<UInt8>) {
        if token.count == 0 {
            self = .empty
        } else if token.count > Job.maximumTokenLength {
            self = .tooLong
        } else {
            self = token.isHexadecimal() ? .none : .notHexadecimal
        }
    }
}
