/// Cuts a stream of bytes into frames.
struct DeviceFrameReader {
    private var bytes: [UInt8] = []

    /// Takes the next bytes of the stream.
    ///
    /// - Parameter more: The bytes.
    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Takes the next whole frame out.
    ///
    /// - Returns: The frame's bytes without its length; nil while the frame is not complete.
    /// - Throws: ``SimulatorError`` where the peer announces too long a frame.
    mutating func next() throws(SimulatorError) -> [UInt8]? {
        guard bytes.count >= 4 else { return nil }
        let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard length <= DeviceFrame.lengthLimit else {
            throw SimulatorError(
                .protocol, "a frame of \(length) bytes was announced; \(DeviceFrame.lengthLimit) are the limit")
        }
        guard bytes.count >= 4 + length else { return nil }
        defer { bytes.removeFirst(4 + length) }
        return Array(bytes[4..<(4 + length)])
    }
}
