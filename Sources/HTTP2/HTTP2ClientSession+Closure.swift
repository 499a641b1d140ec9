import CNGHTTP2

/// Ends requests: decides how each of them ended, and tells the delegate exactly once.
extension HTTP2ClientSession {
    /// Decides how a request ended when the library closed its stream.
    ///
    /// - Parameters:
    ///   - slot: The request.
    ///   - code: The code that the stream was closed with.
    ///   - lastWritten: The highest stream that was written.
    /// - Returns: How it ended.
    static func closure(of slot: Slot, code: HTTP2ErrorCode, lastWritten: Int32) -> StreamClosure {
        if slot.hasEnded { return .complete }
        if slot.streamID > lastWritten { return .unprocessed }
        if let own = slot.resetCode, code != .refusedStream || own == .refusedStream { return .cancelled }
        // The library closes streams above the last stream of a GOAWAY with REFUSED_STREAM, too (RFC 9113, 8.7).
        if code == .refusedStream { return .unprocessed }
        return .reset(code)
    }

    /// Decides how a request ended when the connection was lost.
    ///
    /// - Parameters:
    ///   - slot: The request.
    ///   - lastWritten: The highest stream that was written.
    /// - Returns: How it ended.
    static func closureOnLoss(_ slot: Slot, _ lastWritten: Int32) -> StreamClosure {
        if slot.hasEnded { return .complete }
        if slot.streamID > lastWritten { return .unprocessed }
        return slot.resetCode == nil ? .lost : .cancelled
    }

    /// Frees a slot and tells the delegate. The delegate may use the tag again inside the call.
    ///
    /// - Parameters:
    ///   - tag: An open request.
    ///   - closure: How it ended.
    func close(_ tag: Int, _ closure: StreamClosure) {
        let streamID = slots[tag].streamID
        unsentBytes -= slots[tag].unsent
        slots[tag] = Slot()
        openStreams -= 1
        recent = (-1, 0)
        receiver?.streamClosed(tag: tag, streamID: streamID, closure)
    }

    /// The library closed a stream.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: The code it was closed with.
    func streamClosed(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        // A request that was never written may have been reported before, and its slot may hold another request now.
        guard let tag = openTag(streamID) else { return }
        close(tag, Self.closure(of: slots[tag], code: code, lastWritten: lastWrittenStreamID))
    }

    /// Reports requests that were reset before they were written. The library would keep them until a stream is free.
    func closeWithdrawn() {
        guard !withdrawn.isEmpty else { return }
        let due = withdrawn
        withdrawn.removeAll()
        for (tag, streamID) in due where slots[tag].streamID == streamID && streamID > lastWrittenStreamID {
            close(tag, .unprocessed)
        }
    }

    /// Reports all requests that were never written. After a GOAWAY they will not be written any more.
    func closeUnwritten() {
        for tag in slots.indices where slots[tag].streamID > lastWrittenStreamID {
            close(tag, .unprocessed)
        }
    }

    /// Finds the request of a stream that the library knows as open.
    ///
    /// - Parameter streamID: The stream.
    /// - Returns: The request's tag, or `nil` when the request was reported already.
    func openTag(_ streamID: Int32) -> Int? {
        if recent.streamID == streamID { return recent.tag }
        guard let tag = handle.slot(of: streamID), slots[tag].streamID == streamID else { return nil }
        recent = (streamID, tag)
        return tag
    }

    /// Finds the request of a stream, written or not.
    ///
    /// - Parameter streamID: The stream.
    /// - Returns: The request's tag, or `nil` when the request is not open.
    func tag(of streamID: Int32) -> Int? {
        guard streamID > 0 else { return nil }
        return openTag(streamID) ?? slots.firstIndex { $0.streamID == streamID }
    }
}
