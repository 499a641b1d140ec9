/// Why a request to RabbitMQ's management API failed.
package struct ManagementError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure a caller may treat differently.
    package struct Code: Sendable, Hashable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// Nothing that speaks HTTP answered, or the address is wrong; exit code 69.
        package static let unreachable = Code("unreachable")
        /// The API's certificate cannot be verified; exit code 69.
        package static let untrusted = Code("untrusted")
        /// The address names no user, the API refused the login, or the user lacks a permission; exit code 77.
        package static let refused = Code("refused")
        /// The virtual host does not exist; exit code 77.
        package static let missingVirtualHost = Code("missingVirtualHost")
        /// An answer that fits neither the request nor the API; exit code 70.
        package static let unexpectedAnswer = Code("unexpectedAnswer")
    }

    /// The kind of failure.
    package let code: Code
    /// What happened and what to do, without any password.
    package let message: String
    /// Whether the same request may succeed later without a change. True for `unreachable`, even if the address is
    /// wrong.
    package var isRetriable: Bool { code == .unreachable }

    /// The exit code a command ends with.
    package var exitCode: Int32 {
        switch code {
        case .unreachable, .untrusted: 69
        case .refused, .missingVirtualHost: 77
        default: 70
        }
    }

    /// The message.
    package var description: String { message }
}
