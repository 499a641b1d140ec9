import CNGHTTP2

/// Handles the events that the library's callbacks report.
extension HTTP2ServerSession {
    /// A header block begins on a stream.
    ///
    /// - Parameter frame: Its first frame, lent by the library.
    func headersBegan(_ frame: UnsafePointer<nghttp2_frame>) {
        guard frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
        let streamID = frameHeader(frame).stream_id
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        slots[slot].streamID = streamID
        slots[slot].request.streamID = streamID
        slots[slot].request.reserveUsualSize()
        _ = nghttp2_session_set_stream_user_data(handle.pointer, streamID, SessionHandle.userData(for: slot))
    }

    /// One field arrived.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - name: Its name.
    ///   - value: Its value.
    /// - Returns: The callback's result: not 0 makes the library reset the stream.
    func header(_ streamID: Int32, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int32 {
        guard let slot = handle.slot(of: streamID), !slots[slot].hasHead else { return 0 }
        slots[slot].headerBytes += name.count + value.count + 32
        if slots[slot].headerBytes <= headerListLimit {
            slots[slot].request.append(name: name.span, value: value.span)
            return 0
        }
        // A list over the limit is answered with 431. A list over four times the limit, but at least over 64 KiB, is
        // not worth decoding.
        let isAbsurd = slots[slot].headerBytes > max(headerListLimit, 16 * 1024) * 4
        return isAbsurd ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue : 0
    }

    /// Bytes of a body arrived.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - data: The bytes.
    ///   - isLast: Whether their frame ends the body.
    func data(_ streamID: Int32, _ data: UnsafeBufferPointer<UInt8>, isLast: Bool) {
        guard let slot = handle.slot(of: streamID) else { return }
        // A body whose last frame has arrived needs no window any more.
        if !isLast, !slots[slot].isWindowUsed {
            slots[slot].isWindowUsed = true
            usedStreams.append(streamID)
        }
        let room = bodyLimit - slots[slot].request.body.count
        if data.count > room { slots[slot].request.bodyTruncated = true }
        slots[slot].request.body.append(contentsOf: UnsafeBufferPointer(rebasing: data.prefix(room)))
    }

    /// A whole frame arrived and was valid.
    ///
    /// - Parameter frame: The frame, lent by the library.
    func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frameHeader(frame)
        let isAcknowledgement = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
        switch nghttp2_frame_type(rawValue: UInt32(header.type)) {
        case NGHTTP2_HEADERS:
            headReceived(header.stream_id)
            requestContinued(header)
        case NGHTTP2_DATA: requestContinued(header)
        case NGHTTP2_SETTINGS:
            if isAcknowledgement { receiver?.settingsAcknowledged() } else { settingsReceived(frame) }
        case NGHTTP2_PING:
            if !isAcknowledgement { receiver?.pingReceived(pingOpaque(frame)) }
        case NGHTTP2_GOAWAY: receiver?.received(goAway: goAwayContent(frame))
        default: break
        }
    }

    /// A whole frame arrived and was not valid.
    ///
    /// - Parameters:
    ///   - frame: The frame, lent by the library.
    ///   - code: The library's error code.
    /// - Returns: The callback's result: not 0 keeps the library from sending a GOAWAY of its own.
    func frameInvalid(_ frame: UnsafePointer<nghttp2_frame>, _ code: Int32) -> Int32 {
        guard let excessStreamAnswer, code == NGHTTP2_ERR_PROTO.rawValue,
            frameHeader(frame).type == UInt8(NGHTTP2_HEADERS.rawValue), failure == nil,
            // The library returns the value that the client has acknowledged.
            openStreams >= nghttp2_session_get_local_settings(handle.pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        else { return 0 }
        receiver?.streamLimitExceeded()
        goAway(excessStreamAnswer.code, debugData: excessStreamAnswer.debugData)
        failure = HTTP2Error(code: .protocolViolation, message: "the client opened more streams than it may")
        return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }

    private func headReceived(_ streamID: Int32) {
        guard let slot = handle.slot(of: streamID), !slots[slot].hasHead else { return }
        slots[slot].hasHead = true
        // RFC 6585, 5. The delegate does not get the request. A body is read and dropped.
        if slots[slot].headerBytes > headerListLimit { respond(streamID: streamID, status: 431) }
    }

    private func requestContinued(_ header: nghttp2_frame_hd) {
        guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
            let slot = handle.slot(of: header.stream_id), slots[slot].headerBytes <= headerListLimit
        else { return }
        var request = HTTP2Request(streamID: header.stream_id)
        swap(&request, &slots[slot].request)
        receiver?.received(request: request)
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
        guard header.type == UInt8(NGHTTP2_GOAWAY.rawValue) else { return }
        if ownGoAways > 0 {
            ownGoAways -= 1
        } else if failure == nil {
            // A GOAWAY that this side did not ask for is the library's answer to a violation.
            failure = HTTP2Error(code: .protocolViolation, message: "the client sent frames that HTTP/2 forbids")
        }
    }

    /// The library closed a stream.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: The code it was closed with.
    func streamClosed(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        guard let slot = handle.slot(of: streamID) else { return }
        slots[slot] = Slot()
        freeSlots.append(slot)
        receiver?.streamClosed(streamID: streamID, code: code)
    }

    /// The library asks for the next bytes of a response body.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - slot: The slot of the stream when the response was submitted.
    ///   - buffer: Where the bytes go.
    ///   - capacity: How many may be written.
    ///   - flags: Gets the end-of-file mark with the last byte.
    /// - Returns: How many bytes were written, or an error of the library.
    func readBody(
        _ streamID: Int32, _ slot: Int, _ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int,
        _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard slots[slot].streamID == streamID else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        var offset = slots[slot].offset
        let end = slots[slot].response.count
        let count = copyBody(slots[slot].response, &offset, end, to: buffer, capacity: capacity, flags)
        slots[slot].offset = offset
        return count
    }
}
