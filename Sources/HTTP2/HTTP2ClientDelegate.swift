/// Hears what happens on a client session.
///
/// Called inside `receive(_:)`, `send(into:upTo:)` and `connectionLost()`. An implementation may submit, reset, ping
/// and send GOAWAY inside a call, but must not call `receive`, `send` or `connectionLost`. Spans end with the call.
package protocol HTTP2ClientDelegate: AnyObject {
    /// One field of a response, `:status` included; interim responses and trailers are left out.
    ///
    /// - Parameters:
    ///   - tag: The tag given when the request was submitted.
    ///   - name: The name, in lower case.
    ///   - value: The value.
    func response(tag: Int, header name: Span<UInt8>, value: Span<UInt8>)

    /// The next bytes of a response body.
    ///
    /// - Parameters:
    ///   - tag: The tag given when the request was submitted.
    ///   - data: The bytes; a receiver that stores them sets its own limit.
    func response(tag: Int, data: Span<UInt8>)

    /// A request has ended. Called exactly once for each submitted request; the tag is free again.
    ///
    /// - Parameters:
    ///   - tag: The tag given when the request was submitted.
    ///   - streamID: The stream.
    ///   - closure: How it ended.
    func streamClosed(tag: Int, streamID: Int32, _ closure: StreamClosure)

    /// The peer announced settings.
    ///
    /// - Parameter settings: All that the peer has announced so far, the new values included.
    func received(settings: HTTP2Settings)

    /// The peer sent GOAWAY; nothing can be submitted any more. Streams that it did not process are closed right after.
    ///
    /// - Parameter goAway: The content of the frame.
    func received(goAway: HTTP2GoAway)

    /// The peer answered a ping.
    ///
    /// - Parameter opaque: The number that was sent.
    func pingAcknowledged(_ opaque: UInt64)
}
