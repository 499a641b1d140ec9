/// A job that one of a route's lanes works on. The others may pass it on, and see whether it is the same as another.
// Only the job's own lane looks into the job; all other lanes compare and release the reference.
struct JobOnLane: Equatable, @unchecked Sendable {
    /// The number of the job's lane.
    let lane: Int
    /// The job.
    let job: JobInFlight

    static func == (left: JobOnLane, right: JobOnLane) -> Bool { left.job === right.job }
}

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

/// The messages that the lanes of one route send each other, each about its own jobs and deliveries.
///
/// A broker that loses a channel delivers unacknowledged messages again. They may come to another lane than the one
/// that pushed them, and before that lane knows of its loss. So a lane with a redelivery that nobody remembers asks the
/// other lanes first. A lane that has the job goes on with it. The lane with the delivery settles the delivery when it
/// is told.
enum RouteMessage: Sendable {
    /// I have a redelivery. Answer once you know that its job is not yours, or once your channel is gone and all its
    /// jobs are in the memory. A copy that the broker may have twice is not a redelivery. Of a copy, answer only
    /// whether you have the first one.
    case asked(DeliveryOnLane, isCopy: Bool)
    /// I know that now. Of a copy: whether I have the first one.
    case answered(DeliveryOnLane, isKnown: Bool)
    /// Your job was delivered to me: go on with it, and tell me when the delivery is to be settled.
    case lent(DeliveryOnLane, for: JobOnLane)
    /// The delivery you lent is done with.
    case settled(DeliveryOnLane, of: JobOnLane, LentFate)
    /// My channel is gone, and the delivery I lent with it; the broker delivers it again to one of us.
    case lost(DeliveryOnLane, of: JobOnLane)
    /// The state of suspects has changed: look again.
    case suspectsChanged
    /// APNs told me something about our credential.
    case credential(CredentialNews)
}

/// A fact that one lane of a route learned about the credential, so that the others need not ask APNs.
enum CredentialNews: Equatable, Sendable {
    /// A version is accepted: earlier refusals of it no longer count.
    case accepted(version: Int)
    /// A new version is refused, and the one before stays in use.
    case candidateRefused(version: Int, reason: String)
    /// The version in use is refused.
    case refused(version: Int, reason: String)
}

/// The end of a lent delivery.
enum LentFate: Equatable, Sendable {
    /// Everything its job asked for is confirmed: the delivery is acknowledged. A redelivery is recognised by this
    /// fact, unless a copy of the job looks the same.
    case acknowledged(isRemembered: Bool)
    /// Nothing was pushed: it goes back to the broker, for another worker.
    case givenBack
}
