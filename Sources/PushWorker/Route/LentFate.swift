/// The end of a lent delivery.
enum LentFate: Equatable, Sendable {
    /// Everything its job asked for is confirmed: the delivery is acknowledged. A redelivery is recognised by this
    /// fact, unless a copy of the job looks the same.
    case acknowledged(isRemembered: Bool)
    /// The job does not use the delivery: the job is handed back unsent, or has a later delivery already. The lent
    /// delivery goes back to the broker, for another worker, if its channel is still open.
    case givenBack
}
