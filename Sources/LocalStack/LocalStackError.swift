import Glibc

/// What went wrong while setting up a private part of a local stack: a process, a port, a directory or a broker.
package struct LocalStackError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; open, so that a new kind breaks no caller.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the kind, as tests and messages show it.
        package var rawValue: String

        /// Makes a code from its name.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A program is not installed where it is looked for.
        package static let programMissing = Code(rawValue: "programMissing")
        /// A system call failed.
        package static let system = Code(rawValue: "system")
        /// Something did not happen within its time.
        package static let timedOut = Code(rawValue: "timedOut")
        /// A program ended although it should have kept running, or ended with an error.
        package static let programFailed = Code(rawValue: "programFailed")
    }

    /// The kind of failure.
    package var code: Code
    /// What happened, where, and what to do about it.
    package var message: String

    /// The message alone: it already says what and where.
    package var description: String { message }

    /// Whether trying again may succeed, because ports become free and machines become less busy.
    package var isRetriable: Bool { code == .timedOut || code == .programFailed }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened, where, and what to do about it.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure of a system call.
    ///
    /// - Parameters:
    ///   - call: The call and its object, for the message.
    ///   - number: The value of `errno` right after the call.
    /// - Returns: The error with the system's words for `number`.
    static func system(_ call: String, errno number: Int32) -> LocalStackError {
        LocalStackError(.system, "\(call): \(String(cString: strerror(number)))")
    }
}
