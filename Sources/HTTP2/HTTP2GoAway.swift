/// A GOAWAY frame (RFC 9113, 6.8).
package struct HTTP2GoAway: Hashable, Sendable {
    /// The highest stream that the sender may have processed. It processed no stream above this one.
    package var lastStreamID: Int32
    /// Why the sender leaves.
    package var code: HTTP2ErrorCode
    /// Text for people, at most one frame long. It may hold any bytes.
    package var debugData: [UInt8]

    /// Makes a value with the content of a frame.
    ///
    /// - Parameters:
    ///   - lastStreamID: The highest stream the sender may have processed.
    ///   - code: Why the sender leaves.
    ///   - debugData: Text for people.
    package init(lastStreamID: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
        self.lastStreamID = lastStreamID
        self.code = code
        self.debugData = debugData
    }
}
