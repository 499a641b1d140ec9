import CNGHTTP2

/// The server end of one HTTP/2 connection: bytes in, bytes out, no sockets (RFC 9113).
///
/// Use it from one thread at a time. The delegate is not retained and must be alive whenever the session is called.
package final class HTTP2ServerSession {
    /// One stream from its first header to its end.
    struct Slot {
        /// The stream, 0 while the slot is free.
        var streamID: Int32 = 0
        /// The request as far as it has arrived.
        var request = HTTP2Request(streamID: 0)
        /// Bytes of request headers so far, 32 added per field.
        var headerBytes = 0
        /// Whether the request's own header block is complete; what follows are trailers.
        var hasHead = false
        /// Whether the stream stands in ``usedStreams``.
        var isWindowUsed = false
        /// Whether a response was submitted.
        var hasResponse = false
        /// The body of the response.
        var response: [UInt8] = []
        /// Where the unwritten part of the response begins.
        var offset = 0
    }

    /// How many streams a client may have open if the settings do not say. So one client cannot fill the memory.
    package static let defaultMaxConcurrentStreams: UInt32 = 1000

    /// The library's session.
    let handle: SessionHandle
    // Unchecked exclusivity, here and below: the runtime's checks took about 15 % of the time of a request, the library
    // included. They are not needed: one thread uses a session, and no access to these lasts while foreign code runs.

    /// The receiver of events during a call that may produce some.
    @exclusivity(unchecked)
    private(set) var receiver: (any HTTP2ServerDelegate)?
    /// The open streams and free places, in no order.
    @exclusivity(unchecked)
    var slots: [Slot] = []
    /// Free places in `slots`.
    @exclusivity(unchecked)
    var freeSlots: [Int] = []
    /// The most bytes of a request body that are kept.
    let bodyLimit: Int
    /// The most bytes of request headers that are accepted, with 32 added for each field.
    let headerListLimit: Int
    /// How many bytes of the connection's window the client uses before they are given back. By default half the
    /// window.
    package var windowStep: Int32 = 32_768
    /// The GOAWAY for a client that opens more streams than the limit that it acknowledged. The connection ends then.
    /// `nil` for the library's own PROTOCOL_ERROR. Streams beyond a limit that is not acknowledged yet are refused.
    package var excessStreamAnswer: (code: HTTP2ErrorCode, debugData: [UInt8])?
    /// The streams with an unfinished body that have used their window since the last `returnWindows()`.
    @exclusivity(unchecked)
    var usedStreams: [Int32] = []
    /// How many GOAWAY frames this side asked for and the library has not written yet.
    var ownGoAways = 0
    /// Why the session can no longer be used.
    var failure: HTTP2Error?

    /// How many streams of the client are open.
    package var openStreams: Int {
        slots.count - freeSlots.count
    }
    /// Counts the client's open streams up to a number.
    ///
    /// - Parameter last: The highest stream that counts.
    /// - Returns: How many there are.
    package func openStreams(upTo last: Int32) -> Int {
        slots.count { $0.streamID > 0 && $0.streamID <= last }
    }
    /// The settings that the client has announced so far; `nil` before its first SETTINGS.
    package internal(set) var remoteSettings: HTTP2Settings?

    private let fields = FieldBuffer()
    private var head = HeaderBlock()
    // Not weak: a weak reference would make every later retain and release of the delegate slow.
    private unowned let delegate: any HTTP2ServerDelegate

    /// Makes a session; its SETTINGS are the first bytes to send.
    ///
    /// - Parameters:
    ///   - settings: The settings to announce. Limits on streams and header lists are added if they are missing.
    ///   - bodyLimit: The most bytes of a request body that are kept; the rest is read and dropped.
    ///   - headerListLimit: The most bytes of request headers, with 32 added for each field; more is answered with 431.
    ///   - delegate: Hears what happens; not retained.
    /// - Throws: `HTTP2Error` when a setting is outside its range.
    package init(
        settings: HTTP2Settings, bodyLimit: Int, headerListLimit: Int, delegate: any HTTP2ServerDelegate
    ) throws(HTTP2Error) {
        precondition(bodyLimit >= 0 && headerListLimit >= 0, "limits are not negative")
        handle = try SessionHandle(role: .server, register: ServerCallbacks.register) { options in
            nghttp2_option_set_no_closed_streams(options, 1)
            nghttp2_option_set_no_auto_window_update(options, 1)
        }
        self.bodyLimit = bodyLimit
        self.headerListLimit = headerListLimit
        self.delegate = delegate
        handle.setOwner(self)
        var announced = settings
        announced.maxConcurrentStreams = settings.maxConcurrentStreams ?? Self.defaultMaxConcurrentStreams
        announced.maxHeaderListSize = settings.maxHeaderListSize ?? UInt32(clamping: headerListLimit)
        try handle.submit(announced)
    }

    /// Takes received bytes; events reach the delegate before the call returns.
    ///
    /// Most violations are answered with a GOAWAY. The session is finished once the GOAWAY has been sent.
    ///
    /// - Parameter bytes: The next bytes of the connection.
    /// - Throws: `HTTP2Error` when the connection is dead.
    package func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        if let failure { throw failure }
        enter()
        defer { leave() }
        do {
            try handle.receive(bytes)
        } catch {
            failure = error
            throw error
        }
    }

    /// Appends frames that are due.
    ///
    /// - Parameters:
    ///   - output: The buffer the bytes are appended to.
    ///   - limit: How many bytes to append at most; a frame may be split between calls.
    /// - Throws: `HTTP2Error` when the connection is dead.
    package func send(into output: inout [UInt8], upTo limit: Int) throws(HTTP2Error) {
        enter()
        defer { leave() }
        returnWindows()
        do {
            try handle.send(into: &output, upTo: limit)
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - streamID: The stream of the request.
    ///   - status: The status, three digits.
    ///   - headers: Further fields, names in lower case.
    ///   - body: The body; an empty one sends no DATA.
    /// - Returns: Whether the response was submitted: not for a stream that has ended or was answered before.
    @discardableResult
    package func respond(streamID: Int32, status: Int, headers: [(String, String)] = [], body: [UInt8] = []) -> Bool {
        precondition((100...999).contains(status), "a status has three digits")
        head.removeAll()
        let digits = [status / 100, status / 10 % 10, status % 10].map { UInt8(ascii: "0") + UInt8($0) }
        head.append(":status", digits.span)
        for (name, value) in headers {
            head.append(name: Array(name.utf8).span, value: Array(value.utf8).span)
        }
        return respond(streamID: streamID, head, body: body)
    }

    /// Answers a request with a prepared block of fields.
    ///
    /// - Parameters:
    ///   - streamID: The stream of the request.
    ///   - head: The fields, `:status` first; copied.
    ///   - body: The body, retained until the stream ends; an empty one sends no DATA.
    /// - Returns: Whether the response was submitted: not for a stream that has ended or was answered before.
    @discardableResult
    package func respond(streamID: Int32, _ head: borrowing HeaderBlock, body: [UInt8] = []) -> Bool {
        guard let slot = handle.slot(of: streamID), !slots[slot].hasResponse else { return false }
        let status = fields.withRecords(of: head) { records, count in
            guard !body.isEmpty else {
                return nghttp2_submit_response(handle.pointer, streamID, records, count, nil)
            }
            var source = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: SessionHandle.userData(for: slot)), read_callback: serverReadBody)
            return nghttp2_submit_response(handle.pointer, streamID, records, count, &source)
        }
        guard status == 0 else { return false }
        slots[slot].hasResponse = true
        slots[slot].response = body
        return true
    }

    /// Resets a stream.
    ///
    /// - Parameters:
    ///   - streamID: The stream; a closed stream is ignored.
    ///   - code: What to tell the client.
    package func reset(streamID: Int32, _ code: HTTP2ErrorCode) {
        handle.reset(streamID, code)
    }

    /// Sends GOAWAY. New streams are ignored from then on, and streams above the last one are closed as refused.
    ///
    /// - Parameters:
    ///   - lastStreamID: The last stream that is still answered; `nil` for the last stream of the client. `Int32.max`
    ///     with `.noError` and no text only announces the end: new streams are still taken (RFC 9113, 6.8).
    ///   - code: The reason.
    ///   - debugData: Text for people.
    package func goAway(lastStreamID: Int32? = nil, _ code: HTTP2ErrorCode, debugData: [UInt8] = []) {
        if lastStreamID == .max && code == .noError && debugData.isEmpty {
            if nghttp2_submit_shutdown_notice(handle.pointer) == 0 { ownGoAways += 1 }
            return
        }
        let goAway = HTTP2GoAway(lastStreamID: lastStreamID ?? self.lastStreamID, code: code, debugData: debugData)
        if handle.submit(goAway) { ownGoAways += 1 }
    }

    /// Announces changed settings on the running connection.
    ///
    /// - Parameter settings: The values that change.
    /// - Throws: `HTTP2Error` when a value is outside its range.
    package func submit(settings: HTTP2Settings) throws(HTTP2Error) {
        try handle.submit(settings)
    }

    /// Whether `send(into:upTo:)` may have something to append.
    package var wantsToSend: Bool {
        handle.wantsToSend || owesWindow
    }

    /// Whether the session neither reads nor writes any more, so that the connection can be closed.
    package var isFinished: Bool {
        handle.isFinished
    }

    /// The last stream the client opened, 0 before the first.
    package var lastStreamID: Int32 {
        nghttp2_session_get_last_proc_stream_id(handle.pointer)
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
