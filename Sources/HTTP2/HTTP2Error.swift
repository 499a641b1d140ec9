import CNGHTTP2

/// Why an HTTP/2 session refused a call or can no longer be used.
package struct HTTP2Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong. Open, so that new codes do not break a `switch`.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// A stable text for logs.
        package let rawValue: String

        /// Makes a code from its text.
        ///
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
    ///
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
    ///
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
