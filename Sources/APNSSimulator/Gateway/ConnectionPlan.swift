/// What the gateway does with a connection as a whole, independent of the pushes on it.
package struct ConnectionPlan: Equatable, Sendable {
    /// A GOAWAY that the gateway sends after a time or a number of pushes.
    package struct Goodbye: Equatable, Sendable {
        /// After how many pushes; nil for not by their number.
        package var pushes: Int?
        /// After how many milliseconds; nil for not by time.
        package var milliseconds: Int64?
        /// The frame, always one that lets open streams end.
        package var frame: Verdict.GoAway

        /// Describes a goodbye.
        ///
        /// - Parameters:
        ///   - pushes: After how many pushes.
        ///   - milliseconds: After how many milliseconds.
        ///   - frame: The frame.
        package init(pushes: Int? = nil, milliseconds: Int64? = nil, frame: Verdict.GoAway) {
            self.pushes = pushes
            self.milliseconds = milliseconds
            self.frame = frame
        }
    }

    /// How long bytes take to the client and back, in milliseconds.
    package var roundTrip = 0
    /// Whether the connection is closed as soon as it is accepted.
    package var isRefused = false
    /// Whether nothing is ever read from it or written to it. Such a connection is closed after
    /// ``GatewayConnection/frozenLimit``.
    package var isMute = false
    /// The server certificate it is shown; nil for the one in force.
    package var certificate: ServerCertificateKind?
    /// The concurrent streams announced all the time; nil for the configuration's.
    package var streams: UInt32?
    /// How long it may be idle, in milliseconds; nil for the limits'.
    package var idleTimeout: Int64?
    /// The GOAWAY that comes without a verdict, and when; nil for none.
    package var goodbye: Goodbye?
    /// After how many milliseconds it is cut without a word; nil for never.
    package var closeAfter: Int64?

    /// Starts without trouble.
    package init() {}
}
