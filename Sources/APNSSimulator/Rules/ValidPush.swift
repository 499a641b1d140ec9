/// A push that broke no rule, with the parts that the rest of the simulator needs.
struct ValidPush: Equatable {
    /// The device token, hexadecimal digits as sent.
    var token: [UInt8]
    /// The topic with its suffix.
    var topic: String
    /// The push type given, or implied by the topic.
    var type: GatewayPushType
    /// 10, 5 or 1.
    var priority: Int
    /// Seconds since 1970; 0 = one attempt; nil = APNs' own storage policy.
    var expiration: Int64?
    /// Pushes with the same identifier replace each other.
    var collapseID: [UInt8]?
}
