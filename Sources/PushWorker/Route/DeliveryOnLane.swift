/// A delivery of one of a route's lanes, as the other lanes know it.
struct DeliveryOnLane: Equatable, Sendable {
    /// The number of the lane on whose channel the delivery is.
    let lane: Int
    /// The channel opening that delivered it.
    let generation: UInt32
    /// The delivery's tag on that channel.
    let deliveryTag: UInt64
    /// Where the delivery stands among all deliveries of its message.
    let origin: DeliveryOrigin
    /// The key by which its job is recognised.
    let key: RedeliveryKey
}
