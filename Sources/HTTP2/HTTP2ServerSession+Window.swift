import CNGHTTP2

/// Flow control (RFC 9113, 5.2 and 6.9).
///
/// The library would enlarge windows while it reads, before the client can know. So it would overlook a client that
/// sends too much. This session enlarges windows when bytes are handed out: all bytes that arrive before have to fit.
/// The library answers a client that sends more with GOAWAY or RST_STREAM and FLOW_CONTROL_ERROR.
extension HTTP2ServerSession {
    /// Gives back the part of the connection's window that the client has used. Call it after `receive(_:)`.
    ///
    /// By itself the session waits for ``windowStep`` bytes. If that is half a window and the client is far away, the
    /// connection carries half as much: the client gets the second half back a round trip later.
    ///
    /// - Parameter threshold: The fewest used bytes that are given back.
    package func reopenWindow(from threshold: Int32) {
        let used = nghttp2_session_get_effective_recv_data_length(handle.pointer)
        guard used >= max(1, threshold) else { return }
        submitUpdate(streamID: 0, by: used)
    }

    /// Whether `returnWindows()` may have a part of the connection's or a stream's window to give back.
    var owesWindow: Bool {
        !usedStreams.isEmpty
            || nghttp2_session_get_effective_recv_data_length(handle.pointer) >= max(1, windowStep)
    }

    /// Gives back used parts of windows: the connection's from ``windowStep`` bytes on, a stream's from half of it on.
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
        // This fails only without memory. The update then comes with the next bytes.
        _ = nghttp2_submit_window_update(handle.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, bytes)
    }
}
