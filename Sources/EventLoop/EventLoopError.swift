import Glibc

/// What went wrong with a socket, a name or the loop itself.
package struct EventLoopError: Error, Sendable, CustomStringConvertible {
    /// The kind of an `EventLoopError`; open, so that new kinds break no switch.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, for logs.
        package let description: String

        /// A system call failed in a way that has no kind of its own.
        package static let systemCall = Code(description: "systemCall")
        /// A host name has no address, or the name service did not answer.
        package static let resolutionFailed = Code(description: "resolutionFailed")
        /// A connection could not be established.
        package static let connectFailed = Code(description: "connectFailed")
        /// The time allowed ran out.
        package static let timedOut = Code(description: "timedOut")
        /// An established connection broke.
        package static let connectionLost = Code(description: "connectionLost")
        /// An address could not be listened on.
        package static let listenFailed = Code(description: "listenFailed")
        /// A thread could not be started.
        package static let threadFailed = Code(description: "threadFailed")
    }

    /// The kind of error.
    package var code: Code
    /// What was tried and why it failed, for a person; holds no secret.
    package var message: String
    /// The system's error number (errno(3)), 0 without one.
    package var errno: Int32
    /// Whether the same call may succeed later without anything being changed.
    package var isRetriable: Bool

    /// `message` and the kind.
    package var description: String { "\(message) (\(code))" }

    /// Makes an error and adds the system's own words to the message.
    ///
    /// - Parameters:
    ///   - code: The kind.
    ///   - what: What was tried.
    ///   - errno: The system's error number, read at once after the call.
    init(_ code: Code, _ what: String, errno: Int32) {
        self.code = code
        self.message = errno == 0 ? what : "\(what): \(Self.text(of: errno))"
        self.errno = errno
        self.isRetriable = !Self.lastingErrors.contains(errno)
    }

    /// Makes an error without a system error number.
    ///
    /// - Parameters:
    ///   - code: The kind.
    ///   - message: What was tried and why it failed.
    ///   - isRetriable: Whether the same call may succeed later.
    init(_ code: Code, message: String, isRetriable: Bool) {
        self.code = code
        self.message = message
        self.errno = 0
        self.isRetriable = isRetriable
    }

    /// The error when the time that a caller allowed has run out.
    package static let outOfTime = EventLoopError(.timedOut, message: "no answer in time", isRetriable: true)

    /// Errors that stay until somebody changes the program, its rights or its configuration.
    private static let lastingErrors: Set<Int32> = [
        EACCES, EPERM, EBADF, EINVAL, EFAULT, ENOTSOCK, EAFNOSUPPORT, EPROTONOSUPPORT, EEXIST, ENOENT, EADDRNOTAVAIL,
    ]

    /// The system's words for an error number. They come from strerror_r, because strerror(3) shares one buffer between
    /// threads.
    private static func text(of errno: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let text = buffer.baseAddress, strerror_r(errno, text, buffer.count) == 0 else {
                return "error \(errno)"
            }
            return String(cString: text)
        }
    }
}

/// Repeats a system call that a signal interrupted.
///
/// - Parameter call: The call; a negative result means that errno is set.
/// - Returns: Its result.
@inline(__always)
func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
