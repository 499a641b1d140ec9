/// The consumer tags of a route's channel: the queue's position and the consumer's number.
///
/// No tag is used twice on a channel. A quorum queue knows a consumer by channel and tag. If a cancelled consumer has
/// unacknowledged messages, the queue continues its count of messages for the next consumer with that tag. The broker's
/// channel begins a new count. The channel takes the difference for lost deliveries. RabbitMQ 3.10.8 was seen to close
/// the connection then (541).
enum ConsumerTag {
    /// The tag of a queue's consumer.
    static func text(_ queue: Int, serial: UInt32) -> String { "q\(queue).\(serial)" }

    /// The position of the queue that a tag stands for; nil if no number follows the tag's first character.
    static func queue(_ tag: some Sequence<UInt8>) -> Int? {
        Int(String(decoding: tag.dropFirst().prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
    }
}
