/// Who gave an answer, as its parts show. A gateway or a proxy on the way to APNs may answer in its place.
package enum Speaker: Sendable, Equatable {
    /// APNs.
    case apns
    /// Something between the worker and APNs. It did not pass the request on.
    case gateway
    /// Nobody can tell, and the status claims a success. APNs may have taken the request.
    case unknown

    /// Tells who gave an answer.
    ///
    /// APNs sends an identifier with every answer, and a reason in JSON with every refusal. The answers 429 and 5xx are
    /// APNs' whoever gives them: what they lead to is the same.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, from 200.
    ///   - operation: What was asked for.
    ///   - isSigned: Whether the answer has the identifier: `apns-id`, or `apns-request-id` about broadcast channels.
    ///   - hasReason: Whether its body is JSON with a reason.
    ///   - hasBody: Whether it has a body.
    package init(
        status: Int, of operation: BroadcastChannelOperation, isSigned: Bool, hasReason: Bool, hasBody: Bool
    ) {
        self =
            switch status {
            case 429, 500...599: .apns
            case 200...299 where isSigned: AnswerMeaning.isAcceptance(status, of: operation) ? .apns : .unknown
            case 200...299: hasBody ? .gateway : .unknown
            default: isSigned || hasReason ? .apns : .gateway
            }
    }
}
