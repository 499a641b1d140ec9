/// What became of a published message.
struct PublishFate {
    /// The broker's answer.
    enum Kind: String {
        /// The broker has the message in a queue.
        case confirmed
        /// No queue is bound to the message's key, not even through the alternate exchange.
        case returned = "unroutable"
        /// The broker refused the message, for example because a queue is full.
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
    /// The message's id: for a job the job id.
    var messageID: String
    /// The message's routing key.
    var routingKey: String
}
