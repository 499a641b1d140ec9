/// How many streams a connection is allowed, and when the gateway disconnects it because of errors.
///
/// A value without clock or sockets: the outcome of each push goes in, and the next step comes out. APNs starts token
/// connections at one stream and allows many once a push was good. It slows senders of errors down and disconnects them
/// in the end. 410 is not an error. See Apple, "Handling notification responses from APNs":
/// <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
struct StreamAllowance {
    /// What became of a push.
    enum Outcome: Equatable {
        /// 200.
        case accepted
        /// No fault of the sender: 410, a failure of the server, no answer.
        case neutral
        /// A fault of the sender.
        case error(Refusal)

        /// Sorts an answer.
        ///
        /// - Parameter refusal: What was answered; nil for 200.
        init(_ refusal: Refusal?) {
            guard let refusal else {
                self = .accepted
                return
            }
            self = refusal.status == 410 || refusal.status >= 500 ? .neutral : .error(refusal)
        }
    }

    /// What to do.
    enum Step: Equatable {
        /// Nothing.
        case none
        /// Announce this many concurrent streams.
        case announce(UInt32)
        /// Say goodbye for this reason.
        case disconnect(Refusal)
    }

    private let streams: SimulatorConfiguration.Streams
    private let limits: GatewayLimits
    /// How many streams are announced.
    private(set) var current: UInt32
    private var excess = 0
    private var weightedExcess = 0

    /// Starts at the initial number of streams.
    ///
    /// - Parameters:
    ///   - streams: The numbers of streams.
    ///   - limits: How much is tolerated.
    init(streams: SimulatorConfiguration.Streams, limits: GatewayLimits) {
        self.streams = streams
        self.limits = limits
        current = streams.initial
    }

    /// Takes what became of a push.
    ///
    /// - Parameter outcome: What became of it.
    /// - Returns: What to do about it.
    mutating func note(_ outcome: Outcome) -> Step {
        switch outcome {
        case .accepted:
            excess = max(0, excess - 1)
            weightedExcess = max(0, weightedExcess - 1)
            return announcing(streams.full)
        case .neutral:
            return excess < limits.errorsUntilShrink || limits.errorsUntilShrink == 0 ? announcing(streams.full) : .none
        case .error(let refusal):
            excess += 1
            weightedExcess += refusal.reason == Refusal.badDeviceToken.reason ? limits.badDeviceTokenWeight : 1
            if limits.errorsUntilDisconnect > 0, weightedExcess >= limits.errorsUntilDisconnect {
                return .disconnect(refusal)
            }
            // The smaller number is one stream. A connection that starts with the full number keeps it: one with a
            // fixed number, or with a client certificate.
            guard limits.errorsUntilShrink > 0, excess >= limits.errorsUntilShrink, streams.initial != streams.full
            else { return .none }
            return announcing(1)
        }
    }

    /// Takes a number that a script announced.
    ///
    /// - Parameter count: How many streams.
    mutating func announced(_ count: UInt32) { current = count }

    private mutating func announcing(_ count: UInt32) -> Step {
        guard current != count else { return .none }
        current = count
        return .announce(count)
    }
}
