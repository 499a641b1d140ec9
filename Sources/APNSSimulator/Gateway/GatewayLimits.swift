/// What the gateway tolerates. Apple publishes hardly any of these numbers, so each can be chosen or switched off.
package struct GatewayLimits: Equatable, Sendable {
    /// Pushes in a span of time.
    package struct Rate: Equatable, Sendable {
        /// How many.
        package var pushes: Int
        /// In how many milliseconds.
        package var period: Int64

        /// Makes a rate.
        ///
        /// - Parameters:
        ///   - pushes: How many.
        ///   - period: In how many milliseconds.
        package init(pushes: Int, period: Int64) {
            self.pushes = pushes
            self.period = period
        }
    }

    /// How many errors in excess of accepted pushes make the gateway allow one stream only; 0 for never. Connections
    /// that start with the full number of streams are not affected.
    package var errorsUntilShrink = 50
    /// How many errors in excess of accepted pushes make the gateway disconnect; 0 for never.
    package var errorsUntilDisconnect = 200
    /// How many errors one `BadDeviceToken` counts as, on the way to disconnection.
    package var badDeviceTokenWeight = 4
    /// How many new connections an address may open in a minute; 0 for any number. More are closed at once.
    package var connectionsPerMinute = 1000
    /// How long a connection may be idle, in milliseconds, before GOAWAY `IdleTimeout`; nil for ever.
    package var idleTimeout: Int64?
    /// How many pushes a device token may get in a span of time; nil for any number. More are answered
    /// `TooManyRequests`.
    package var devicePushes: Rate?
    /// How many requests about broadcast channels, messages to them included, an app may make in a span of time; nil
    /// for any number. More are answered `TooManyRequests`.
    package var broadcastChannelRequests: Rate?
    /// How long one provider token must be used before another one, in milliseconds; 0 for no accounting.
    package var tokenUpdateInterval: Int64 = 1_200_000
    /// How large a request's header list may be, in bytes. RFC 9113, 6.5.2, adds 32 bytes for each field.
    package var headerList = 8000

    /// Starts from the defaults above.
    package init() {}
}
