/// Where a management API is and who asks it: what a command line for it needs. It holds no password.
package struct ManagementPlace: Sendable, Equatable {
    /// The host, an IPv6 address without its brackets.
    package var host: String
    /// The port.
    package var port: Int
    /// Whether it speaks TLS.
    package var isEncrypted = false
    /// What stands before `/api` in paths; empty as a rule.
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
