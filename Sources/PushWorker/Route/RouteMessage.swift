/// A job that one of a route's lanes works on. The others may pass it on, and see whether it is the same as another.
// Only the job's own lane looks into it; all others compare and release the reference.
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
    /// Where it stands among all there were of its message.
    let origin: DeliveryOrigin
    /// What its job is recognised by.
    let key: RedeliveryKey
}

/// What the lanes of one route tell each other, each about what belongs to it.
///
/// A broker that loses a channel delivers what was unacknowledged again, maybe to another lane than the one that pushed it,
/// and maybe before that one knows of its loss. So a lane with a redelivery that nobody remembers asks the others first.
/// Where one has its job that one goes on with it, and the lane with the delivery settles it when it is told.
enum RouteMessage: Sendable {
    /// I have a redelivery: tell me once you know that its job is not yours, or your channel is gone and all that it had
    /// is in the memory. A copy that the broker may have twice is no redelivery; of that only tell me whether you have
    /// the first.
    case asked(DeliveryOnLane, isCopy: Bool)
    /// I can say that now; for a copy, whether I have the first.
    case answered(DeliveryOnLane, isKnown: Bool)
    /// Your job was delivered to me: go on with it, and tell me when the delivery is to be settled.
    case lent(DeliveryOnLane, for: JobOnLane)
    /// The delivery you lent is done with.
    case settled(DeliveryOnLane, of: JobOnLane, LentFate)
    /// My channel is gone, and the delivery I lent with it; the broker delivers it again to one of us.
    case lost(DeliveryOnLane, of: JobOnLane)
    /// What is to be known of suspects has changed: look again.
    case suspectsChanged
    /// APNs told me something about our credential.
    case credential(CredentialNews)
}

/// What one lane of a route learned about the credential, so that the others need not ask APNs.
enum CredentialNews: Equatable, Sendable {
    /// A version is accepted: what was said against it holds no more.
    case accepted(version: Int)
    /// A new version is refused, and the one before stays in use.
    case candidateRefused(version: Int, reason: String)
    /// The version in use is refused.
    case refused(version: Int, reason: String)
}

/// What is to become of a lent delivery.
enum LentFate: Equatable, Sendable {
    /// Everything its job asked for is confirmed: it is acknowledged. A redelivery of it is recognised by that, but where a
    /// copy of the job looks the same.
    case acknowledged(isRemembered: Bool)
    /// Nothing was pushed: it goes back to the broker, for another worker.
    case givenBack
}
