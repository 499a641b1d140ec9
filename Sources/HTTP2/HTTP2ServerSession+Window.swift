internal import CNGHTTP2

/// Flow control beyond what the library does by itself.
extension HTTP2ServerSession {
    /// Gives the client back what it has used of the connection's window (RFC 9113, 6.9).
    ///
    /// By itself the library waits for half a window, and at a distance that halves what a connection can carry: the
    /// client gets the second half back a round trip later. Call it after `receive(_:)`.
    /// - Parameter threshold: Bytes that are not worth a frame of their own.
    package func reopenWindow(from threshold: Int32) {
        let used = nghttp2_session_get_effective_recv_data_length(handle.pointer)
        guard used >= max(1, threshold) else { return }
        // Fails for lack of memory only; the library's own update then comes later.
        _ = nghttp2_submit_window_update(handle.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, used)
    }
}
