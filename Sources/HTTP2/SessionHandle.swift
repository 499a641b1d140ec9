import CNGHTTP2

/// Owns one library session and moves bytes in and out of it.
///
/// The library keeps a pointer to the owner of this object, set with `setOwner(_:)`. The owner must outlive this
/// object.
final class SessionHandle {
    /// The end of the connection that the session is.
    enum Role {
        case client, server
    }

    /// The library's session; every call on it must come from one thread at a time.
    let pointer: OpaquePointer
    /// Bytes of the library that nobody has taken yet. The library keeps them until it is asked for its next frame.
    private var unsent = UnsafeBufferPointer<UInt8>(start: nil, count: 0)

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - role: The end that the session is.
    ///   - register: Sets the callbacks of the session.
    ///   - configure: Sets its options.
    /// - Throws: `HTTP2Error` when there is no memory.
    init(
        role: Role, register: (OpaquePointer) -> Void, configure: (OpaquePointer) -> Void
    ) throws(HTTP2Error) {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
        try Self.check(nghttp2_session_callbacks_new(&callbacks), "creating the session callbacks")
        try Self.check(nghttp2_option_new(&options), "creating the session options")
        if let callbacks { register(callbacks) }
        if let options { configure(options) }
        var session: OpaquePointer?
        switch role {
        case .client:
            try Self.check(nghttp2_session_client_new2(&session, callbacks, nil, options), "creating the session")
        case .server:
            try Self.check(nghttp2_session_server_new2(&session, callbacks, nil, options), "creating the session")
        }
        guard let session else { throw HTTP2Error.library(NGHTTP2_ERR_NOMEM.rawValue, while: "creating the session") }
        pointer = session
    }

    deinit {
        nghttp2_session_del(pointer)
    }

    /// Tells the library which object its callbacks serve; not retained.
    ///
    /// - Parameter owner: The object the callbacks find in their user data.
    func setOwner(_ owner: AnyObject) {
        nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(owner).toOpaque())
    }

    /// Whether bytes wait to be taken.
    var wantsToSend: Bool {
        !unsent.isEmpty || nghttp2_session_want_write(pointer) != 0
    }

    /// Whether the session neither reads nor writes any more.
    var isFinished: Bool {
        !wantsToSend && nghttp2_session_want_read(pointer) == 0
    }

    /// Feeds received bytes to the library.
    ///
    /// - Parameter bytes: The next bytes of the connection.
    /// - Throws: `HTTP2Error` when the library cannot continue the connection.
    func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        let result = bytes.withUnsafeBufferPointer { buffer in
            nghttp2_session_mem_recv(pointer, buffer.baseAddress, buffer.count)
        }
        guard result >= 0 else { throw HTTP2Error.library(Int32(result), while: "reading frames") }
    }

    /// Appends frames to a buffer.
    ///
    /// - Parameters:
    ///   - output: The buffer.
    ///   - limit: How many bytes to append at most; a frame may be split.
    /// - Throws: `HTTP2Error` when the library cannot continue the connection.
    func send(into output: inout [UInt8], upTo limit: Int) throws(HTTP2Error) {
        var room = limit
        while room > 0 {
            if unsent.isEmpty {
                var start: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(pointer, &start)
                guard count >= 0 else { throw HTTP2Error.library(Int32(count), while: "writing frames") }
                guard count > 0 else { return }
                unsent = UnsafeBufferPointer(start: start, count: count)
            }
            let taken = min(room, unsent.count)
            output.append(contentsOf: UnsafeBufferPointer(rebasing: unsent[..<taken]))
            unsent = UnsafeBufferPointer(rebasing: unsent[taken...])
            room -= taken
        }
    }

    /// Submits a SETTINGS frame.
    ///
    /// - Parameter settings: The values to announce.
    /// - Throws: `HTTP2Error` when a value is outside its range.
    func submit(_ settings: HTTP2Settings) throws(HTTP2Error) {
        let entries = settings.entries
        let status = entries.withUnsafeBufferPointer { buffer in
            nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), buffer.baseAddress, buffer.count)
        }
        try Self.check(status, "announcing settings")
    }

    /// Submits a GOAWAY frame.
    ///
    /// - Parameter goAway: Its content.
    /// - Returns: Whether the library took it.
    func submit(_ goAway: HTTP2GoAway) -> Bool {
        goAway.debugData.withUnsafeBufferPointer { buffer in
            nghttp2_submit_goaway(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), goAway.lastStreamID, goAway.code.rawValue,
                buffer.baseAddress, buffer.count)
        } == 0
    }

    /// Submits a RST_STREAM frame. A request that was not written yet is withdrawn. Without effect on closed streams.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: Why it is reset.
    func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        // This fails only without memory. The stream then stays open and ends with its connection.
        _ = nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, code.rawValue)
    }

    /// The slot number stored with an open stream.
    ///
    /// - Parameter streamID: The stream.
    /// - Returns: The slot, or `nil` for a stream that is not open.
    func slot(of streamID: Int32) -> Int? {
        guard let pointer = nghttp2_session_get_stream_user_data(pointer, streamID) else { return nil }
        return Int(bitPattern: pointer) - 1
    }

    /// The form in which a slot number is stored with a stream: a pointer that is never dereferenced.
    ///
    /// - Parameter slot: The slot number.
    /// - Returns: The number plus one, as a pointer.
    static func userData(for slot: Int) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: slot + 1)
    }

    private static func check(_ status: Int32, _ action: String) throws(HTTP2Error) {
        guard status == 0 else { throw HTTP2Error.library(status, while: action) }
    }
}

/// Reads the header that every frame begins with, without copying the whole union.
///
/// - Parameter frame: A frame lent by the library.
/// - Returns: Its header.
func frameHeader(_ frame: UnsafePointer<nghttp2_frame>) -> nghttp2_frame_hd {
    UnsafeRawPointer(frame).assumingMemoryBound(to: nghttp2_frame_hd.self).pointee
}

/// The opaque data of a PING frame as the number that was sent.
///
/// - Parameter frame: A PING frame lent by the library.
/// - Returns: The eight bytes, in network order.
func pingOpaque(_ frame: UnsafePointer<nghttp2_frame>) -> UInt64 {
    withUnsafeBytes(of: frame.pointee.ping.opaque_data) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
}

/// Copies a GOAWAY frame.
///
/// - Parameter frame: A GOAWAY frame lent by the library.
/// - Returns: Its content.
func goAwayContent(_ frame: UnsafePointer<nghttp2_frame>) -> HTTP2GoAway {
    let goAway = frame.pointee.goaway
    let debugData = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
    return HTTP2GoAway(
        lastStreamID: goAway.last_stream_id, code: HTTP2ErrorCode(rawValue: goAway.error_code),
        debugData: Array(debugData))
}

/// Copies the next bytes of a body into the buffer that the library offers.
///
/// - Parameters:
///   - body: The whole body.
///   - offset: Where the next byte is; moved on.
///   - end: Where the body ends.
///   - buffer: Where the bytes go.
///   - capacity: How many the flow-control windows and the frame size allow.
///   - flags: Gets the end-of-file mark with the last byte.
/// - Returns: How many bytes were copied.
func copyBody(
    _ body: [UInt8], _ offset: inout Int, _ end: Int, to buffer: UnsafeMutablePointer<UInt8>, capacity: Int,
    _ flags: UnsafeMutablePointer<UInt32>
) -> Int {
    let count = min(capacity, end - offset)
    body.withUnsafeBufferPointer { bytes in
        if let start = bytes.baseAddress { buffer.update(from: start + offset, count: count) }
    }
    offset += count
    if offset == end { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
