internal import Glibc

/// Why a system call failed.
package struct EventLoopError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: Hashable, Sendable {
        private let name: String
        private init(_ name: String) { self.name = name }

        /// A system call failed; `errno` says how.
        package static let systemCall = Code("systemCall")
        /// A host name has no address, or the resolver did not answer.
        package static let unresolved = Code("unresolved")
        /// Nothing accepted the connection, or nobody answered in time.
        package static let unreachable = Code("unreachable")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What was tried and why it failed, for people.
    package let message: String
    /// The number of the system's error, 0 where there is none.
    package let errno: Int32

    /// An error from its parts.
    package init(_ code: Code, _ message: String, errno: Int32 = 0) {
        self.code = code
        self.message = errno == 0 ? message : "\(message): \(String(cString: strerror(errno)))"
        self.errno = errno
    }

    /// Whether trying again later may help.
    package var isRetriable: Bool { code != .systemCall }

    package var description: String { message }

    /// The failure of the system call just made; must be the first thing after it.
    static func last(_ what: String) -> EventLoopError {
        let number = Glibc.errno
        return EventLoopError(.systemCall, what, errno: number)
    }
}
