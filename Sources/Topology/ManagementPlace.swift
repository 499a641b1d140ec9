/// The place of a management API and the user who asks it: what a command line for the API needs. It holds no password.
package struct ManagementPlace: Sendable, Equatable {
    /// The host, an IPv6 address without its brackets.
    package var host: String
    /// The port.
    package var port: Int
    /// Whether it speaks TLS.
    package var isEncrypted = false
    /// The part of paths before `/api`; usually empty.
    package var prefix = ""
    /// The user.
    package var user: String

    /// Makes a place from its parts.
    package init(host: String, port: Int, isEncrypted: Bool = false, prefix: String = "", user: String) {
        self.host = host
        self.port = port
        self.isEncrypted = isEncrypted
        self.prefix = prefix
        self.user = user
    }
}
