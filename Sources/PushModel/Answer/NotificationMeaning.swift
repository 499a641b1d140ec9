/// What an answer means for its notification.
enum NotificationMeaning: Sendable, Equatable {
    /// APNs took it.
    case accepted
    /// Nobody knows whether APNs took it.
    case unproved
    /// The device token is dead.
    case deadToken
    /// The connection failed, not the notification. Send it on a new connection; after too many resends, use the last
    /// resort.
    case resend(lastly: LastResort)
    /// Try again later.
    case retry
    /// The credential failed, not the notification.
    case park
    /// Refused for good.
    case rejected(Action)

    /// What to do after new connections did not help.
    enum LastResort: Sendable, Equatable {
        case retry, park
    }
}
