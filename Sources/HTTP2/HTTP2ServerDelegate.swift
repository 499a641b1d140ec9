/// Hears what happens on a server session.
///
/// Called inside `receive(_:)` and `send(into:upTo:)`. An implementation may respond, reset, send GOAWAY and announce
/// settings inside a call, but must not call `receive` or `send`.
package protocol HTTP2ServerDelegate: AnyObject {
    /// A request arrived whole.
    ///
    /// - Parameter request: The request; it may be answered at once or later.
    func received(request: HTTP2Request)

    /// A stream that the client opened has ended, answered or not.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: `.noError` when request and response ended in order, otherwise the reason of the reset.
    func streamClosed(streamID: Int32, code: HTTP2ErrorCode)

    /// The client sent GOAWAY.
    ///
    /// - Parameter goAway: The content of the frame.
    func received(goAway: HTTP2GoAway)

    /// The client announced settings.
    ///
    /// - Parameter settings: All that the client has announced so far, the new values included.
    func received(settings: HTTP2Settings)

    /// The client acknowledged the oldest settings that were not acknowledged yet. Those settings are in force now.
    func settingsAcknowledged()

    /// The client sent a ping; the answer is on its way.
    ///
    /// - Parameter opaque: The number it sent.
    func pingReceived(_ opaque: UInt64)

    /// The client opened more streams than it may. GOAWAY follows. Answers that are given now begin before it.
    func streamLimitExceeded()
}

/// The defaults of a server that needs none of these events.
extension HTTP2ServerDelegate {
    /// Ignores the settings.
    ///
    /// - Parameter settings: All that the client has announced so far.
    package func received(settings: HTTP2Settings) {}

    /// Ignores the acknowledgement.
    package func settingsAcknowledged() {}

    /// Ignores the ping.
    ///
    /// - Parameter opaque: The number the client sent.
    package func pingReceived(_ opaque: UInt64) {}

    /// Answers nothing more before GOAWAY.
    package func streamLimitExceeded() {}
}
