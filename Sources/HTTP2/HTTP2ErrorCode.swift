/// An HTTP/2 error code as it travels in RST_STREAM and GOAWAY (RFC 9113, 7). Unknown values are kept.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: UInt32

    /// Makes a code from the number on the wire.
    ///
    /// - Parameter rawValue: The number on the wire.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// An end without an error.
    package static let noError = HTTP2ErrorCode(rawValue: 0x0)
    /// An unspecific violation of the protocol.
    package static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    /// The endpoint had an internal error.
    package static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    /// The peer broke flow control.
    package static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    /// SETTINGS were not acknowledged in time.
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    /// A frame arrived on a half-closed stream.
    package static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    /// A frame had an invalid size.
    package static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    /// The stream was refused before any processing.
    package static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    /// The stream is no longer needed.
    package static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    /// The header compression state is lost.
    package static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    /// The connection made for a CONNECT request failed.
    package static let connectError = HTTP2ErrorCode(rawValue: 0xa)
    /// The peer puts too much load on this endpoint.
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xb)
    /// The transport is not secure enough.
    package static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xc)
    /// HTTP/1.1 must be used instead.
    package static let http11Required = HTTP2ErrorCode(rawValue: 0xd)

    /// The name of RFC 9113, 7, or the number in hexadecimal.
    package var description: String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        return rawValue < names.count ? names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }
}
