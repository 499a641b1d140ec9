internal import CNGHTTP2

/// Why an HTTP/2 session refused a call or can no longer be used.
package struct HTTP2Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, as an open set.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// A stable text for logs.
        package let rawValue: String

        /// Makes a code from its text.
        /// - Parameter rawValue: A stable text for logs.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The peer broke HTTP/2; the connection is dead.
        package static let protocolViolation = Code(rawValue: "protocolViolation")
        /// The session ended earlier, in order or not; nothing more can be done with it.
        package static let sessionEnded = Code(rawValue: "sessionEnded")
        /// A GOAWAY was received or submitted; the request was not taken.
        package static let goingAway = Code(rawValue: "goingAway")
        /// All stream identifiers of the connection are used up (RFC 9113, 5.1.1).
        package static let streamsExhausted = Code(rawValue: "streamsExhausted")
        /// The library could not allocate memory.
        package static let outOfMemory = Code(rawValue: "outOfMemory")
        /// The library refused an argument, such as a setting outside its range.
        package static let invalidArgument = Code(rawValue: "invalidArgument")
        /// Any other failure the library reported.
        package static let library = Code(rawValue: "library")
    }

    /// What went wrong.
    package let code: Code
    /// A sentence a person can act on; never holds header values or bodies.
    package let message: String

    /// Makes an error.
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - message: A sentence a person can act on.
    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same request may be tried again on a new connection.
    package var isRetriable: Bool {
        code != .invalidArgument
    }

    /// The code and the message.
    package var description: String {
        "HTTP/2 \(code.rawValue): \(message)"
    }

    /// Turns a library result into an error, with the library's own description of it.
    /// - Parameters:
    ///   - status: A negative result of the library.
    ///   - action: What was tried, as the beginning of the sentence.
    /// - Returns: The error to throw.
    static func library(_ status: Int32, while action: String) -> HTTP2Error {
        let text = nghttp2_strerror(status).map { String(cString: $0) } ?? "result \(status)"
        return HTTP2Error(code: code(of: status), message: "\(action) failed: \(text)")
    }

    private static func code(of status: Int32) -> Code {
        switch nghttp2_error(rawValue: status) {
        case NGHTTP2_ERR_NOMEM: .outOfMemory
        case NGHTTP2_ERR_INVALID_ARGUMENT: .invalidArgument
        case NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE: .streamsExhausted
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC, NGHTTP2_ERR_FLOODED, NGHTTP2_ERR_PROTO, NGHTTP2_ERR_HTTP_MESSAGING,
            NGHTTP2_ERR_HEADER_COMP, NGHTTP2_ERR_FRAME_SIZE_ERROR, NGHTTP2_ERR_FLOW_CONTROL:
            .protocolViolation
        default: .library
        }
    }
}

/// An HTTP/2 error code as it travels in RST_STREAM and GOAWAY (RFC 9113, 7); unknown values survive.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: UInt32

    /// Makes a code from the number on the wire.
    /// - Parameter rawValue: The number on the wire.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A graceful end.
    package static let noError = HTTP2ErrorCode(rawValue: 0x0)
    /// An unspecific violation of the protocol.
    package static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    /// The endpoint failed inside.
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
