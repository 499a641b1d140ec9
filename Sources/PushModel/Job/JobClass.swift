/// The urgency that a producer asks for in the routing key. It chooses the queue if the route has a high lane.
package enum JobClass: String, Hashable, Sendable, CaseIterable {
    /// Ahead of `normal` where the route has `high_lane`.
    case high
    /// Everything else.
    case normal

    /// The class as constant text.
    package var text: StaticString {
        switch self {
        case .high: "high"
        case .normal: "normal"
        }
    }
}
