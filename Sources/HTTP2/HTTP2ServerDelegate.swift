/// Hears what happens on a server session.
///
/// Called inside `receive(_:)` and `send(into:upTo:)`. An implementation may respond, reset, say goodbye and announce
/// settings from inside a call, but must not call `receive` or `send`.
package protocol HTTP2ServerDelegate: AnyObject {
    /// A request arrived whole.
    /// - Parameter request: The request; it may be answered at once or later.
    func received(request: HTTP2Request)

    /// A stream the client opened is over, answered or not.
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: `.noError` when request and response ended in order, else why it was reset.
    func streamClosed(streamID: Int32, code: HTTP2ErrorCode)

    /// The client is leaving.
    /// - Parameter goAway: What the client said.
    func received(goAway: HTTP2GoAway)

    /// The client announced settings.
    /// - Parameter settings: All that the client has announced so far, the new values included.
    func received(settings: HTTP2Settings)

    /// The client acknowledged the oldest settings that were not acknowledged yet; they are in force now.
    func settingsAcknowledged()

    /// The client sent a ping; the answer is on its way.
    /// - Parameter opaque: The number it sent.
    func pingReceived(_ opaque: UInt64)

    /// The client opened more streams than it may. The goodbye follows; what is answered now goes out before it.
    func streamLimitExceeded()
}

/// What a server that does not care does: nothing.
extension HTTP2ServerDelegate {
    /// Ignores the settings.
    /// - Parameter settings: All that the client has announced so far.
    package func received(settings: HTTP2Settings) {}

    /// Ignores the acknowledgement.
    package func settingsAcknowledged() {}

    /// Ignores the ping.
    /// - Parameter opaque: The number the client sent.
    package func pingReceived(_ opaque: UInt64) {}

    /// Answers nothing more before the goodbye.
    package func streamLimitExceeded() {}
}
