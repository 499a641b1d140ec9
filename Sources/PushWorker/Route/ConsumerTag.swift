/// The consumer tags of a route's channel: the queue's position and the consumer's number.
///
/// No tag is used twice on a channel. A quorum queue knows a consumer by channel and tag. The queue goes on counting
/// messages where a cancelled consumer with unacknowledged messages left off, while the broker's channel begins again.
/// The channel takes the difference for lost deliveries. RabbitMQ 3.10.8 was seen to close the connection then (541).
enum ConsumerTag {
    /// The tag of a queue's consumer.
    static func text(_ queue: Int, serial: UInt32) -> String { "q\(queue).\(serial)" }

    /// The queue a tag stands for; nil for a tag that is not ours.
    static func queue(_ tag: some Sequence<UInt8>) -> Int? {
        Int(String(decoding: tag.dropFirst().prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
    }
}
