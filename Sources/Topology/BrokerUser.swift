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
    /// - Parameters:
    ///   - salt: Four random bytes.
    ///   - password: The password in UTF-8.
    ///   - sha256: The digest function.
    /// - Returns: The text for `password_hash`.
    package static func rabbitPasswordHash(
        salt: [UInt8], password: [UInt8], sha256: ([UInt8]) -> [UInt8]
    ) -> String {
        base64(salt + sha256(salt + password))
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                let isPadding = place > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[value >> (18 - 6 * place) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
