/// What the worker expects in the body of an answer, before it reads the body.
package enum AnswerBody: Sendable, Equatable {
    /// Nothing that the worker needs.
    case nothing
    /// The answer to a broadcast or to an operation on broadcast channels, in the body or in the headers.
    case broadcastChannel(isNeeded: Bool)
    /// A reason. It is needed if the status alone says only that the request was not carried out.
    case reason(isNeeded: Bool)

    /// What to look for.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, from 200.
    ///   - operation: What was asked for.
    package init(status: Int, of operation: BroadcastChannelOperation) {
        switch status {
        case _ where AnswerMeaning.isAcceptance(status, of: operation):
            self =
                operation == .push
                ? .nothing : .broadcastChannel(isNeeded: operation == .readChannel || operation == .listChannels)
        case 429: self = .reason(isNeeded: false)
        case 300..<500: self = .reason(isNeeded: true)
        default: self = .reason(isNeeded: false)
        }
    }
}
