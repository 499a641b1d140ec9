/// The messages that the lanes of one route send each other, each about its own jobs and deliveries.
///
/// A broker that loses a channel delivers unacknowledged messages again. A message may come to another lane than the
/// one that pushed it, and before that lane knows of its loss.
///
/// So a lane with a redelivery that the memory does not know asks the other lanes first. A lane that has the job
/// continues the job. It tells the lane with the delivery when to settle the delivery.
enum RouteMessage: Sendable {
    /// The end of a lent delivery.
    enum LentFate: Equatable, Sendable {
        /// Everything its job asked for is confirmed: the delivery is acknowledged. A redelivery is recognised by this
        /// fact, unless a copy of the job looks the same.
        case acknowledged(isRemembered: Bool)
        /// The job does not use the delivery: the job is handed back unsent, or has a later delivery already. The lent
        /// delivery goes back to the broker, for another worker, if its channel is still open.
        case givenBack
    }

    /// A fact that one lane of a route learned about the credential, so that the others need not ask APNs.
    enum CredentialNews: Equatable, Sendable {
        /// A version is accepted: earlier refusals of this version no longer count.
        case accepted(version: Int)
        /// A new version is refused, and the version before it stays in use.
        case candidateRefused(version: Int, reason: String)
        /// The version in use is refused.
        case refused(version: Int, reason: String)
    }

    /// I have a redelivery. Answer once you know that its job is not yours, or once your channel is gone and all its
    /// jobs are in the memory.
    ///
    /// A copy that the broker may have twice is not a redelivery. For a copy, answer at once whether you have the first
    /// one.
    case asked(DeliveryOnLane, isCopy: Bool)
    /// My answer. For a redelivery it means that the job is not mine, or that my jobs are in the memory; `isKnown` is
    /// false. For a copy `isKnown` says whether I have the first one.
    case answered(DeliveryOnLane, isKnown: Bool)
    /// I received your job's delivery. Continue the job, and tell me when to settle the delivery.
    case lent(DeliveryOnLane, for: JobOnLane)
    /// My job is done with the delivery that you lent: settle the delivery.
    case settled(DeliveryOnLane, of: JobOnLane, LentFate)
    /// My channel is gone, and with it the delivery that I lent. The broker delivers its message again to one of us.
    case lost(DeliveryOnLane, of: JobOnLane)
    /// The state of suspects has changed: look again.
    case suspectsChanged
    /// APNs told me something about our credential.
    case credential(CredentialNews)
}
