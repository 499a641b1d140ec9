/// A delivery of one of a route's lanes, as the others know it.
struct DeliveryOnLane: Equatable, Sendable {
    /// The number of the lane on whose channel it is.
    let lane: Int
    /// The channel opening that delivered it.
    let generation: UInt32
    /// Its tag there.
    let deliveryTag: UInt64
    /// Where it stands among all deliveries of its message.
    let origin: DeliveryOrigin
    /// The key by which its job is recognised.
    let key: RedeliveryKey
}
