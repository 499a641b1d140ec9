import CNGHTTP2

/// The client end of one HTTP/2 connection: bytes in, bytes out, no sockets (RFC 9113).
///
/// Use it from one thread at a time; it may be handed from thread to thread between calls. The delegate is not
/// retained and must be alive whenever the session is called. A session that is dropped does not report its open
/// requests: call `connectionLost()` first.
package final class HTTP2ClientSession {
    /// One request from `submit` to `streamClosed`; kept at the index of its tag.
    struct Slot {
        /// The stream, 0 while the slot is free.
        var streamID: Int32 = 0
        /// The body, retained until the stream closes.
        var body: [UInt8] = []
        /// Where the unwritten part of the body begins.
        var offset = 0
        /// Where the body ends.
        var end = 0
        /// How many bytes of the body were not written.
        var unsent: Int { end - offset }
        /// Bytes of response headers so far, 32 added per field.
        var headerBytes = 0
        /// The code this side reset the stream with.
        var resetCode: HTTP2ErrorCode?
        /// Whether the final `:status` was seen, so that another header block holds trailers.
        var hasStatus = false
        /// Whether the current header block is an interim response or trailers.
        var skipsBlock = false
        /// Whether the peer ended the response in order.
        var hasEnded = false
    }

    /// The largest tag. A wrong tag cannot claim the memory of millions of slots.
    package static let maximumTag = (1 << 16) - 1
    /// The most bytes of response headers per stream, with 32 added for each field. APNs sends a few hundred.
    package static let responseHeaderLimit = 16 * 1024

    /// The most stored bytes of one request's header block; literals do not count. The library would drop a much larger
    /// block and tell the peer nothing.
    package static let requestHeaderLimit = 256 * 1024

    /// The library's session.
    let handle: SessionHandle
    // Unchecked exclusivity, here and below: the runtime's checks took about 7 % of the time of a request, the library
    // included. They are not needed: one thread uses a session, and no access to these lasts while foreign code runs.

    /// The receiver of events during a call that may produce some.
    @exclusivity(unchecked)
    private(set) var receiver: (any HTTP2ClientDelegate)?
    /// The open requests by tag.
    @exclusivity(unchecked)
    var slots: [Slot] = []
    /// The highest stream whose HEADERS have been handed out; streams are opened in order (RFC 9113, 5.1.1).
    @exclusivity(unchecked)
    var lastWrittenStreamID: Int32 = 0
    /// Tags of requests that were reset before they were written, with their streams.
    var withdrawn: [(tag: Int, streamID: Int32)] = []
    /// Whether a GOAWAY began to arrive.
    var goAwayBegan = false
    /// Whether a whole GOAWAY arrived.
    var goAwayReceived = false
    /// How many GOAWAY frames this side asked for and the library has not written yet.
    var ownGoAways = 0
    /// The stream of the last look-up, with its tag. Consecutive callbacks mostly ask for the same stream.
    @exclusivity(unchecked)
    var recent: (streamID: Int32, tag: Int) = (-1, 0)
    /// Why the session can no longer be used.
    var failure: HTTP2Error?

    /// Requests submitted and not yet closed.
    package internal(set) var openStreams = 0
    /// How many bytes of the bodies of open requests were not written.
    @exclusivity(unchecked)
    var unsentBytes = 0
    /// The settings that the peer has announced so far; `nil` before its first SETTINGS.
    package internal(set) var remoteSettings: HTTP2Settings?

    private let fields = FieldBuffer()
    // Not weak: a weak reference would make every later retain and release of the delegate slow.
    private unowned let delegate: any HTTP2ClientDelegate
    private var saidGoodbye = false
    private var isLost = false

    /// Makes a session; its preface and SETTINGS are the first bytes to send.
    ///
    /// Pushed responses are declined and a header list limit is announced unless the settings say otherwise.
    ///
    /// - Parameters:
    ///   - settings: The settings to announce to the peer.
    ///   - delegate: Hears what happens; not retained.
    /// - Throws: `HTTP2Error` when a setting is outside its range.
    package init(settings: HTTP2Settings, delegate: any HTTP2ClientDelegate) throws(HTTP2Error) {
        handle = try SessionHandle(role: .client, register: ClientCallbacks.register) { options in
            // Streams beyond the first wait inside the library until the peer has announced its limit.
            nghttp2_option_set_peer_max_concurrent_streams(options, 1)
            nghttp2_option_set_no_closed_streams(options, 1)
            // Pushed responses are declined; this also holds until the peer has acknowledged the settings.
            nghttp2_option_set_max_reserved_remote_streams(options, 0)
            nghttp2_option_set_max_send_header_block_length(options, 4 * Self.requestHeaderLimit)
        }
        self.delegate = delegate
        handle.setOwner(self)
        var announced = settings
        announced.enablePush = settings.enablePush ?? 0
        announced.maxHeaderListSize = settings.maxHeaderListSize ?? UInt32(Self.responseHeaderLimit)
        try handle.submit(announced)
    }

    /// Whether `submit` would take a request: no GOAWAY in either direction, no failure, no lost connection.
    package var acceptsRequests: Bool {
        !goAwayBegan && !saidGoodbye && !isLost && failure == nil
    }

    /// Submits a request; its frames come out of `send(into:upTo:)` as the peer's limits allow.
    ///
    /// - Parameters:
    ///   - head: The header fields, pseudo-header fields first; copied.
    ///   - body: The array that holds the body; retained until the stream closes, not copied.
    ///   - range: Where the body is; an empty range sends no body.
    ///   - tag: A number for the events of this request: 0 to `maximumTag`, small, unique among open requests.
    /// - Returns: The stream.
    /// - Throws: `HTTP2Error` with the code `invalidArgument` when the header fields are too long, or with another code
    ///   when no request can be taken any more.
    package func submit(
        _ head: borrowing HeaderBlock, body: [UInt8], range: Range<Int>, tag: Int
    ) throws(HTTP2Error) -> Int32 {
        precondition(range.lowerBound >= 0 && range.upperBound <= body.count, "the body lies outside its array")
        precondition(tag >= 0 && tag <= Self.maximumTag, "the tag \(tag) is out of bounds")
        assert(head.hasPseudoFieldsFirst, "pseudo-header fields come first")
        guard acceptsRequests else { throw refusal }
        guard head.bytes.count <= Self.requestHeaderLimit else {
            throw HTTP2Error(
                code: .invalidArgument, message: "the header fields exceed \(Self.requestHeaderLimit) bytes")
        }
        if tag >= slots.count {
            slots.append(contentsOf: repeatElement(Slot(), count: tag + 1 - slots.count))
        }
        precondition(slots[tag].streamID == 0, "the tag \(tag) is in use")
        let streamID = submitRequest(head, hasBody: !range.isEmpty, userData: SessionHandle.userData(for: tag))
        guard streamID > 0 else { throw HTTP2Error.library(streamID, while: "submitting a request") }
        slots[tag].streamID = streamID
        slots[tag].body = body
        slots[tag].offset = range.lowerBound
        slots[tag].end = range.upperBound
        unsentBytes += range.count
        openStreams += 1
        return streamID
    }

    private func submitRequest(
        _ head: borrowing HeaderBlock, hasBody: Bool, userData: UnsafeMutableRawPointer?
    ) -> Int32 {
        fields.withRecords(of: head) { records, count in
            guard hasBody else {
                return nghttp2_submit_request(handle.pointer, nil, records, count, nil, userData)
            }
            var source = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: userData), read_callback: clientReadBody)
            return nghttp2_submit_request(handle.pointer, nil, records, count, &source, userData)
        }
    }

    private var refusal: HTTP2Error {
        if let failure { return failure }
        if isLost { return HTTP2Error(code: .sessionEnded, message: "the connection is gone") }
        return HTTP2Error(code: .goingAway, message: "the connection is being closed and takes no new requests")
    }

    /// Takes received bytes; events reach the delegate before the call returns.
    ///
    /// - Parameter bytes: The next bytes of the connection.
    /// - Throws: `HTTP2Error` when the connection is dead. The bytes that `send(into:upTo:)` still appends tell the
    ///   peer why. Call `connectionLost()` then to close the open requests.
    package func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        if let failure { throw failure }
        guard !isLost else { throw refusal }
        enter()
        defer { leave() }
        do {
            try handle.receive(bytes)
        } catch {
            failure = error
            throw error
        }
        // The library answers a violation with a GOAWAY of its own. It shows that only by refusing requests.
        if !goAwayReceived, !saidGoodbye, nghttp2_session_check_request_allowed(handle.pointer) == 0,
            nghttp2_session_get_next_stream_id(handle.pointer) <= UInt32(Int32.max)
        {
            throw violation()
        }
    }

    /// Records that the peer broke the protocol.
    ///
    /// - Returns: The error to throw.
    func violation() -> HTTP2Error {
        let error =
            failure
            ?? HTTP2Error(code: .protocolViolation, message: "the peer sent frames that HTTP/2 forbids")
        failure = error
        return error
    }

    /// Appends frames that are due.
    ///
    /// - Parameters:
    ///   - output: The buffer the bytes are appended to.
    ///   - limit: How many bytes to append at most; a frame may be split between calls.
    /// - Throws: `HTTP2Error` when the connection is dead.
    package func send(into output: inout [UInt8], upTo limit: Int) throws(HTTP2Error) {
        guard !isLost else { return }
        enter()
        defer { leave() }
        closeWithdrawn()
        do {
            try handle.send(into: &output, upTo: limit)
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    /// Resets a request. Its closure follows inside one of the next calls of `send(into:upTo:)`: `.cancelled`, or
    /// `.unprocessed` if it was never written. A response that is complete by then still counts as `.complete`.
    ///
    /// - Parameters:
    ///   - streamID: The stream; a closed stream is ignored.
    ///   - code: What to tell the peer.
    package func reset(streamID: Int32, _ code: HTTP2ErrorCode) {
        guard !isLost, let tag = tag(of: streamID), slots[tag].resetCode == nil else { return }
        slots[tag].resetCode = code
        handle.reset(streamID, code)
        if streamID > lastWrittenStreamID { withdrawn.append((tag, streamID)) }
    }

    /// Sends a ping; the answer reaches the delegate.
    ///
    /// - Parameter opaque: A number that comes back with the answer.
    package func ping(_ opaque: UInt64) {
        withUnsafeBytes(of: opaque.bigEndian) { bytes in
            // This fails only without memory, and then looks like a ping that was not answered.
            _ = nghttp2_submit_ping(
                handle.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            )
        }
    }

    /// Sends GOAWAY: nothing can be submitted any more, open requests may finish.
    ///
    /// - Parameter code: What to tell the peer.
    package func goAway(_ code: HTTP2ErrorCode) {
        guard !isLost else { return }
        saidGoodbye = true
        if handle.submit(HTTP2GoAway(lastStreamID: 0, code: code, debugData: [])) { ownGoAways += 1 }
    }

    /// Whether `send(into:upTo:)` may have something to append.
    package var wantsToSend: Bool {
        !isLost && (!withdrawn.isEmpty || handle.wantsToSend)
    }

    /// Whether the session neither reads nor writes any more, so that the connection can be closed.
    package var isFinished: Bool {
        isLost || (withdrawn.isEmpty && handle.isFinished)
    }

    /// Bytes of body the peer's connection window still takes.
    package var remoteWindow: Int {
        max(0, Int(nghttp2_session_get_remote_window_size(handle.pointer)))
    }

    /// What is left of `remoteWindow` for further requests: the unwritten bodies of open requests are subtracted.
    /// Negative if those bodies alone do not fit.
    package var unclaimedWindow: Int { remoteWindow - unsentBytes }

    /// How many streams the peer allows now: 1 before its first SETTINGS, a very large number if it announced no limit.
    package var remoteMaxConcurrentStreams: Int {
        Int(nghttp2_session_get_remote_settings(handle.pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Reports every open request to the delegate as closed, because the connection is gone. The session is finished
    /// then.
    package func connectionLost() {
        guard !isLost else { return }
        isLost = true
        enter()
        defer { leave() }
        withdrawn.removeAll()
        for tag in slots.indices where slots[tag].streamID != 0 {
            close(tag, Self.closureOnLoss(slots[tag], lastWrittenStreamID))
        }
    }

    /// Holds the delegate during a call, so that the callbacks inside need not load it each time.
    private func enter() {
        precondition(receiver == nil, "called from inside a delegate call")
        receiver = delegate
    }

    private func leave() {
        receiver = nil
    }
}
