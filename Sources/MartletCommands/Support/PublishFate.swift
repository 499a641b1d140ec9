/// What became of a published job.
struct PublishFate {
    /// The broker's answer.
    enum Kind: String {
        /// The broker has it in a queue.
        case confirmed
        /// No queue is bound to its key, not even through the alternate exchange.
        case returned = "unroutable"
        /// The broker refused it, because a queue is full.
        case refused

        /// The answer in a sentence.
        var explanation: String {
            switch self {
            case .confirmed: "confirmed"
            case .returned: "no queue is bound to this key"
            case .refused: "the broker refused it; a queue may be full"
            }
        }
    }

    /// The message's number on its connection.
    var number: UInt64
    /// The broker's answer.
    var kind: Kind
    /// The job's id.
    var messageID: String
    /// The job's routing key.
    var routingKey: String
}
