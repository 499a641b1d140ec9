/// The messages that the lanes of one route send each other, each about its own jobs and deliveries.
///
/// A broker that loses a channel delivers unacknowledged messages again. They may come to another lane than the one
/// that pushed them, and before that lane knows of its loss. So a lane with a redelivery that nobody remembers asks the
/// other lanes first. A lane that has the job continues it. The lane with the delivery settles the delivery when it is
/// told.
enum RouteMessage: Sendable {
    /// I have a redelivery. Answer once you know that its job is not yours, or once your channel is gone and all its
    /// jobs are in the memory. A copy that the broker may have twice is not a redelivery. Of a copy, answer only
    /// whether you have the first one.
    case asked(DeliveryOnLane, isCopy: Bool)
    /// I know that now. Of a copy: whether I have the first one.
    case answered(DeliveryOnLane, isKnown: Bool)
    /// I received your job's delivery. Continue the job, and tell me when to settle the delivery.
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
