import CNGHTTP2

// The library calls these functions inside `receive` and `send` of their session, on the thread of that call.

/// The functions that nghttp2 calls for a server session.
enum ServerCallbacks {
    /// Sets the callbacks of a server session.
    ///
    /// - Parameter callbacks: The library's table.
    static func register(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, serverHeadersBegan)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, serverHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, serverData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, serverFrameReceived)
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, serverFrameInvalid)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, serverFrameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, serverStreamClosed)
    }
}

/// Runs a closure on the session a callback belongs to, without counting references.
private func withSession<Result>(
    _ userData: UnsafeMutableRawPointer, _ body: (HTTP2ServerSession) -> Result
) -> Result {
    Unmanaged<HTTP2ServerSession>.fromOpaque(userData)._withUnsafeGuaranteedRef { body($0) }
}

private func serverHeadersBegan(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    withSession(userData) { $0.headersBegan(frame) }
    return 0
}

private func serverHeader(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
    _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _ flags: UInt8, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    let name = UnsafeBufferPointer(start: name, count: nameCount)
    let value = UnsafeBufferPointer(start: value, count: valueCount)
    return withSession(userData) { $0.header(frameHeader(frame).stream_id, name, value) }
}

private func serverData(
    _ session: OpaquePointer?, _ flags: UInt8, _ streamID: Int32, _ data: UnsafePointer<UInt8>?, _ count: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let userData else { return 0 }
    let isLast = UInt32(flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    withSession(userData) { $0.data(streamID, UnsafeBufferPointer(start: data, count: count), isLast: isLast) }
    return 0
}

private func serverFrameReceived(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    withSession(userData) { $0.frameReceived(frame) }
    return 0
}

private func serverFrameInvalid(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ code: Int32,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    return withSession(userData) { $0.frameInvalid(frame, code) }
}

private func serverFrameSent(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    withSession(userData) { $0.frameSent(frameHeader(frame)) }
    return 0
}

private func serverStreamClosed(
    _ session: OpaquePointer?, _ streamID: Int32, _ code: UInt32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let userData else { return 0 }
    withSession(userData) { $0.streamClosed(streamID, HTTP2ErrorCode(rawValue: code)) }
    return 0
}

/// Reads the next bytes of a response body; the source carries the slot as in `SessionHandle.userData(for:)`.
func serverReadBody(
    _ session: OpaquePointer?, _ streamID: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer, let flags, let source, let userData else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
    }
    let tag = Int(bitPattern: source.pointee.ptr) - 1
    return withSession(userData) { $0.readBody(streamID, tag, buffer, capacity, flags) }
}
