/// What stands in the body of an answer, as far as that is known before it is read.
package enum AnswerBody: Sendable, Equatable {
    /// Nothing that is wanted.
    case nothing
    /// What was asked for about broadcast channels, in the body or beside it.
    case broadcastChannel(isNeeded: Bool)
    /// A reason. Where it is needed, the status alone says no more than that the request was not carried out.
    case reason(isNeeded: Bool)

    /// What to look for.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, from 200.
    ///   - operation: What was asked for.
    package init(status: Int, of operation: BroadcastChannelOperation) {
        switch status {
        case 200..<300 where operation != .push:
            self = .broadcastChannel(isNeeded: operation == .readChannel || operation == .listChannels)
        case 200: self = .nothing
        case 429: self = .reason(isNeeded: false)
        case 300..<500: self = .reason(isNeeded: true)
        default: self = .reason(isNeeded: false)
        }
    }
}
