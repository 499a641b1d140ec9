import CNGHTTP2

// The library calls these functions inside `receive` and `send` of their session, on the thread of that call.

/// The functions that nghttp2 calls for a client session.
enum ClientCallbacks {
    /// Sets the callbacks of a client session.
    ///
    /// - Parameter callbacks: The library's table.
    static func register(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, clientFrameBegan)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, clientHeadersBegan)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, clientHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, clientData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, clientFrameReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, clientFrameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, clientStreamClosed)
    }
}

/// Runs a closure on the session a callback belongs to, without counting references.
private func withSession<Result>(
    _ userData: UnsafeMutableRawPointer, _ body: (HTTP2ClientSession) -> Result
) -> Result {
    Unmanaged<HTTP2ClientSession>.fromOpaque(userData)._withUnsafeGuaranteedRef { body($0) }
}

private func clientFrameBegan(
    _ session: OpaquePointer?, _ header: UnsafePointer<nghttp2_frame_hd>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let header, let userData else { return 0 }
    withSession(userData) { $0.frameBegan(header.pointee) }
    return 0
}

private func clientHeadersBegan(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    withSession(userData) { $0.headersBegan(frameHeader(frame)) }
    return 0
}

private func clientHeader(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
    _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _ flags: UInt8, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    // The fields of a PUSH_PROMISE come on the stream of a request, and are not its response.
    guard let frame, let userData, frameHeader(frame).type == UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
    let name = UnsafeBufferPointer(start: name, count: nameCount)
    let value = UnsafeBufferPointer(start: value, count: valueCount)
    return withSession(userData) { $0.header(frameHeader(frame).stream_id, name, value) }
}

private func clientData(
    _ session: OpaquePointer?, _ flags: UInt8, _ streamID: Int32, _ data: UnsafePointer<UInt8>?, _ count: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let userData else { return 0 }
    withSession(userData) { $0.data(streamID, UnsafeBufferPointer(start: data, count: count)) }
    return 0
}

private func clientFrameReceived(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    withSession(userData) { $0.frameReceived(frame) }
    return 0
}

private func clientFrameSent(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let userData else { return 0 }
    withSession(userData) { $0.frameSent(frameHeader(frame)) }
    return 0
}

private func clientStreamClosed(
    _ session: OpaquePointer?, _ streamID: Int32, _ code: UInt32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let userData else { return 0 }
    withSession(userData) { $0.streamClosed(streamID, HTTP2ErrorCode(rawValue: code)) }
    return 0
}

/// Reads the next bytes of a request body; the source carries the slot as in `SessionHandle.userData(for:)`.
func clientReadBody(
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
