import Text

/// A user to be written into a definitions file.
package struct BrokerUser: Sendable, Equatable {
    /// The login name.
    package let name: String
    /// What the user may do.
    package let role: BrokerRole
    /// The salted hash of the password, as ``rabbitPasswordHash(salt:password:sha256:)`` makes it.
    package let passwordHash: String

    /// Makes a user from its parts.
    package init(name: String, role: BrokerRole, passwordHash: String) {
        self.name = name
        self.role = role
        self.passwordHash = passwordHash
    }

    /// The hash that RabbitMQ stores: Base64 of the salt followed by SHA-256 of salt and password.
    ///
    /// [Computing password hash](https://www.rabbitmq.com/docs/passwords#computing-password-hash)
    ///
    /// - Parameters:
    ///   - salt: Four random bytes.
    ///   - password: The password in UTF-8.
    ///   - sha256: The digest function.
    /// - Returns: The text for `password_hash`.
    package static func rabbitPasswordHash(
        salt: [UInt8], password: [UInt8], sha256: ([UInt8]) -> [UInt8]
    ) -> String {
        Base64.standard.text(salt + sha256(salt + password))
    }
}
