/// What an answer says about everything else that is to be pushed.
package enum ServiceState: Sendable, Equatable {
    /// APNs does its work.
    case working
    /// One device token got too many notifications, which must rest.
    case deviceThrottled
    /// APNs is in trouble.
    case troubled
}
