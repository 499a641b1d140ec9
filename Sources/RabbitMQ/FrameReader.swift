import Buffers

/// Cuts the bytes of a broker into frames, wherever the network cut them.
///
/// A frame that arrived whole is read in place. Only a frame that arrived in parts is copied.
struct FrameReader: ~Copyable {
    private let receiveLimit: Int
    private var payloadLimit: Int
    /// The beginning of a frame whose end has not arrived; at most one frame.
    private var partial = ByteQueue(ordinaryCapacity: 4096)
    /// Whether `partial` holds a frame that was handed out. The next call drops that frame.
    private var isPartialDone = false

    /// A reader that has seen nothing.
    ///
    /// - Parameters:
    ///   - frameMax: The largest frame that is accepted, in bytes.
    ///   - receiveLimit: The largest frame that is accepted where that is more than `frameMax`, in bytes.
    init(frameMax: Int, receiveLimit: Int = 0) {
        self.receiveLimit = receiveLimit
        payloadLimit = max(frameMax, receiveLimit) - Frame.overhead
    }

    /// Changes the largest frame that is accepted, which stays at least the `receiveLimit`.
    ///
    /// - Parameter frameMax: What was agreed to, in bytes.
    mutating func accept(frameMax: Int) { payloadLimit = max(frameMax, receiveLimit) - Frame.overhead }

    /// Reads the next frame.
    ///
    /// - Parameter input: Bytes that arrived; what was read is cut off its beginning.
    /// - Returns: Nil when the rest of the frame has not arrived; all of `input` was taken then.
    /// - Throws: `protocolViolation` for bytes that are not a frame, and for a frame that is too large.
    mutating func next(in input: inout UnsafeRawBufferPointer) throws(AMQPError) -> Frame? {
        if isPartialDone {
            partial.drop(partial.count)
            isPartialDone = false
        }
        guard partial.isEmpty else { return try continued(in: &input) }
        guard let size = try frameSize(input), size <= input.count else {
            keep(input.count, of: &input)
            return nil
        }
        let frame = try frame(UnsafeRawBufferPointer(rebasing: input[..<size]))
        input = UnsafeRawBufferPointer(rebasing: input[size...])
        return frame
    }

    private mutating func continued(in input: inout UnsafeRawBufferPointer) throws(AMQPError) -> Frame? {
        if partial.count < Frame.headSize { keep(Frame.headSize - partial.count, of: &input) }
        guard let size = try frameSize(partial.bytes) else { return nil }
        keep(size - partial.count, of: &input)
        guard partial.count == size else { return nil }
        isPartialDone = true
        return try frame(partial.bytes)
    }

    /// Moves bytes from the input to the end of `partial`; fewer where the input has fewer.
    private mutating func keep(_ count: Int, of input: inout UnsafeRawBufferPointer) {
        let kept = min(count, input.count)
        guard kept > 0, let base = input.baseAddress else { return }
        partial.append(base, count: kept)
        input = UnsafeRawBufferPointer(rebasing: input[kept...])
    }

    /// The size of the frame that begins here, head and end mark included; nil where its head is incomplete.
    private func frameSize(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Int? {
        guard bytes.count >= Frame.headSize else { return nil }
        let payload = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 3, as: UInt32.self)))
        guard payload <= payloadLimit else {
            throw AMQPError(
                .protocolViolation, "the broker sent a frame of \(payload) bytes, over the limit of \(payloadLimit)")
        }
        return payload + Frame.overhead
    }

    private func frame(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Frame {
        guard bytes[bytes.count - 1] == Frame.endMark else {
            throw AMQPError(.protocolViolation, "the broker sent a frame without its end mark")
        }
        // A kind that is not defined is a fatal error (AMQP 0-9-1, 4.2.3).
        guard let kind = Frame.Kind(rawValue: bytes[0]) else {
            throw AMQPError(.protocolViolation, "the broker sent a frame of unknown type \(bytes[0])")
        }
        return Frame(
            kind: kind, channel: UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt16.self)),
            payload: UnsafeRawBufferPointer(rebasing: bytes[Frame.headSize..<(bytes.count - 1)]))
    }
}
