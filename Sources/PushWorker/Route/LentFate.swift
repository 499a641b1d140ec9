/// The end of a lent delivery.
enum LentFate: Equatable, Sendable {
    /// Everything its job asked for is confirmed: the delivery is acknowledged. A redelivery is recognised by this
    /// fact, unless a copy of the job looks the same.
    case acknowledged(isRemembered: Bool)
    /// Nothing was pushed: it goes back to the broker, for another worker.
    case givenBack
}
