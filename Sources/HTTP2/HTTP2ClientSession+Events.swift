import CNGHTTP2

/// Handles the events that the library's callbacks report.
extension HTTP2ClientSession {
    /// The header of a frame arrived. The header of a GOAWAY stops new requests, before the frame's content is known.
    ///
    /// - Parameter header: The header.
    func frameBegan(_ header: nghttp2_frame_hd) {
        if header.type == UInt8(NGHTTP2_GOAWAY.rawValue) { goAwayBegan = true }
    }

    /// A header block begins on a stream.
    ///
    /// - Parameter header: The header of its first frame.
    func headersBegan(_ header: nghttp2_frame_hd) {
        guard header.type == UInt8(NGHTTP2_HEADERS.rawValue), let tag = openTag(header.stream_id) else { return }
        slots[tag].skipsBlock = slots[tag].hasStatus
    }

    /// One field arrived.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - name: Its name.
    ///   - value: Its value.
    /// - Returns: The callback's result: not 0 makes the library reset the stream.
    func header(_ streamID: Int32, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int32 {
        guard let tag = openTag(streamID) else { return 0 }
        slots[tag].headerBytes += name.count + value.count + 32
        guard slots[tag].headerBytes <= Self.responseHeaderLimit else {
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        if slots[tag].skipsBlock { return 0 }
        // The library passes only one pseudo-header field of a response, and only as the first field: `:status`.
        if name.first == UInt8(ascii: ":") {
            if value.first == UInt8(ascii: "1") {
                slots[tag].skipsBlock = true
                return 0
            }
            slots[tag].hasStatus = true
        }
        receiver?.response(tag: tag, header: name.span, value: value.span)
        return 0
    }

    /// Bytes of a body arrived.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - data: The bytes.
    func data(_ streamID: Int32, _ data: UnsafeBufferPointer<UInt8>) {
        guard let tag = openTag(streamID) else { return }
        receiver?.response(tag: tag, data: data.span)
    }

    /// A whole frame arrived and was valid.
    ///
    /// - Parameter frame: The frame, lent by the library.
    func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frameHeader(frame)
        switch nghttp2_frame_type(rawValue: UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            if UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let tag = openTag(header.stream_id) {
                slots[tag].hasEnded = true
            }
        case NGHTTP2_SETTINGS:
            if UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue == 0 { settingsReceived(frame) }
        case NGHTTP2_PING:
            if UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 { receiver?.pingAcknowledged(pingOpaque(frame)) }
        case NGHTTP2_GOAWAY:
            goAwayReceived = true
            receiver?.received(goAway: goAwayContent(frame))
            closeUnwritten()
        default: break
        }
    }

    private func settingsReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        var settings = remoteSettings ?? HTTP2Settings()
        for entry in UnsafeBufferPointer(start: frame.pointee.settings.iv, count: frame.pointee.settings.niv) {
            settings.merge(entry)
        }
        remoteSettings = settings
        receiver?.received(settings: settings)
    }

    /// A frame was handed out.
    ///
    /// - Parameter header: Its header.
    func frameSent(_ header: nghttp2_frame_hd) {
        switch nghttp2_frame_type(rawValue: UInt32(header.type)) {
        case NGHTTP2_HEADERS:
            lastWrittenStreamID = max(lastWrittenStreamID, header.stream_id)
        case NGHTTP2_GOAWAY:
            // A GOAWAY that this side did not ask for is the library's answer to a violation.
            if ownGoAways > 0 { ownGoAways -= 1 } else { _ = violation() }
        default: break
        }
    }

    /// The library asks for the next bytes of a request body.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - tag: The tag of the request when it was submitted.
    ///   - buffer: Where the bytes go.
    ///   - capacity: How many may be written.
    ///   - flags: Gets the end-of-file mark with the last byte.
    /// - Returns: How many bytes were written, or an error of the library.
    func readBody(
        _ streamID: Int32, _ tag: Int, _ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int,
        _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard slots[tag].streamID == streamID else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        var offset = slots[tag].offset
        let count = copyBody(slots[tag].body, &offset, slots[tag].end, to: buffer, capacity: capacity, flags)
        slots[tag].offset = offset
        unsentBytes -= count
        return count
    }
}
