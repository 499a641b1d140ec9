/// What a session reports from inside `AMQPSession.receive`.
///
/// Every method may call the session's sending methods, but not `receive`. Spans are valid during the call only.
package protocol AMQPSessionDelegate: AnyObject {
    /// A channel is open.
    func channelOpened(_ channel: UInt16)
    /// The prefetch count holds for consumers started from now on.
    func qosSet(_ channel: UInt16)
    /// Deliveries of a consumer follow.
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8])
    /// No more deliveries of the consumer follow. It was cancelled as asked for, or by the broker (`byBroker`), for
    /// example because its queue is gone.
    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool)
    /// The channel confirms what is published from now on, counting from 1.
    func confirmsSelected(_ channel: UInt16)
    /// The channel is closed: by the broker with its reply code, or as asked for with code 200. It may be opened again.
    func channelClosed(_ channel: UInt16, code: UInt16, text: String)
    /// The broker closes the open connection; `receive` throws next. A close during the login is only thrown.
    func connectionClosed(code: UInt16, text: String)
    /// The broker stopped reading what is published, because of an alarm. `publish` returns false until the alarm is
    /// over.
    func connectionBlocked(reason: String)
    /// The alarm is over.
    func connectionUnblocked()
    /// A message was delivered.
    func delivered(_ delivery: consuming Delivery)
    /// A mandatory message could not be routed (code 312); its confirm follows.
    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>)
    /// The broker took (`positive`) or refused the message with this number, or all up to it.
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool)
    /// The broker answered a request about queues or exchanges.
    func answered(_ channel: UInt16, _ answer: AMQPAnswer)
}

extension AMQPSessionDelegate {
    /// Does nothing: a worker asks nothing about queues.
    package func answered(_ channel: UInt16, _ answer: AMQPAnswer) {}
}
