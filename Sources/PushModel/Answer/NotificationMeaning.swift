/// What an answer means for its notification.
enum NotificationMeaning: Sendable, Equatable {
    /// APNs took it.
    case accepted
    /// The device token is dead.
    case deadToken
    /// Not this notification's fault but the connection's; when that has been said often enough, the last resort is
    /// used.
    case resend(lastly: LastResort)
    /// Come back later.
    case retry
    /// Not this notification's fault but the credential's.
    case park
    /// Refused for good.
    case rejected(Action)

    /// What is done once new connections have not helped.
    enum LastResort: Sendable, Equatable {
        case retry, park
    }
}
