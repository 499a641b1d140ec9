import PushModel

/// The kind of an attempt after which a notification is sent again.
package struct Repeat: Equatable, Sendable {
    /// When the notification is sent again.
    enum Way: String, Sendable, CaseIterable {
        /// At once.
        case resend
        /// After a tier, as the next attempt.
        case retry
        /// After a tier, as the same attempt, because APNs refuses the credential or would refuse it.
        case park
    }

    /// When the notification is sent again.
    let way: Way
    /// One of ``AnswerCounts/labels``.
    let status: String
}

// Not an initializer, because that would take both values over. Nearly all settlements are final, and must cost
// nothing.
extension Settlement {
    /// The kind of an attempt that led to this settlement.
    ///
    /// - Parameter attempted: How the attempt ended.
    /// - Returns: The kind; nil if the notification is not sent again.
    func repeats(_ attempted: Attempted) -> Repeat? {
        let way: Repeat.Way
        switch self {
        case .report: return nil
        case .resend, .resendOnNewConnection: way = .resend
        case .retry: way = .retry
        case .park: way = .park
        }
        guard case .response(let answer) = attempted else { return Repeat(way: way, status: "none") }
        return Repeat(way: way, status: AnswerCounts.label(of: answer.status))
    }
}

extension Attempted {
    /// How the attempt ended, as a label: Apple's reason, or a word of ours where APNs did not answer. Nil for a
    /// notification that expired, or an answer without a reason.
    var reason: Reason? {
        switch self {
        case .response(let answer): answer.speaker == .apns ? answer.reason : .notAPNs
        case .unprocessed: .notTaken
        case .unanswered(.deadline): .timeout
        case .unanswered(.reset): .streamReset
        case .unanswered(.connectionLost): .connectionLost
        case .unreachable: .unreachable
        case .heldBack: .heldBack
        case .expired: nil
        }
    }
}

// Built once. Reasons that are not in `Reason.Known` are made from text, and compared as text.
extension Reason {
    fileprivate static let notAPNs = Reason(rawValue: "NotAPNs")
    fileprivate static let notTaken = Reason(rawValue: "NotTaken")
    fileprivate static let timeout = Reason(rawValue: "Timeout")
    fileprivate static let streamReset = Reason(rawValue: "StreamReset")
    fileprivate static let connectionLost = Reason(rawValue: "ConnectionLost")
    fileprivate static let heldBack = Reason(rawValue: "HeldBack")
}
