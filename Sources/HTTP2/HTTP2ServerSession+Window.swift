import CNGHTTP2

/// Flow control (RFC 9113, 5.2 and 6.9).
///
/// The library would give windows back while it reads, before the client can know, and so overlook a client that sends
/// more than it was allowed. Here they are given back when bytes are handed out: what arrives until then has to fit.
/// More is answered GOAWAY or RST_STREAM with FLOW_CONTROL_ERROR.
extension HTTP2ServerSession {
    /// Gives the client back what it has used of the connection's window.
    ///
    /// By itself the session waits for ``windowStep`` bytes, and at a distance half a window halves what a connection
    /// can carry: the client gets the second half back a round trip later. Call it after `receive(_:)`.
    /// - Parameter threshold: Bytes that are not worth a frame of their own.
    package func reopenWindow(from threshold: Int32) {
        let used = nghttp2_session_get_effective_recv_data_length(handle.pointer)
        guard used >= max(1, threshold) else { return }
        submitUpdate(streamID: 0, by: used)
    }

    /// Whether the client has used so much of the connection's window, or of a stream's, that some is due.
    var owesWindow: Bool {
        !usedStreams.isEmpty
            || nghttp2_session_get_effective_recv_data_length(handle.pointer) >= max(1, windowStep)
    }

    /// Gives back what is due of the connection's window and the streams'.
    func returnWindows() {
        reopenWindow(from: windowStep)
        for streamID in usedStreams {
            guard let slot = handle.slot(of: streamID) else { continue }
            slots[slot].isWindowUsed = false
            let used = nghttp2_session_get_stream_effective_recv_data_length(handle.pointer, streamID)
            let size = nghttp2_session_get_stream_effective_local_window_size(handle.pointer, streamID)
            if used > 0, Int(used) * 2 >= Int(size) { submitUpdate(streamID: streamID, by: used) }
        }
        usedStreams.removeAll(keepingCapacity: true)
    }

    private func submitUpdate(streamID: Int32, by bytes: Int32) {
        // Fails for lack of memory only; the update then comes with the next bytes.
        _ = nghttp2_submit_window_update(handle.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, bytes)
    }
}
