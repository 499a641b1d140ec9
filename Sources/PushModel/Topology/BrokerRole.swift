/// Who may do what at the broker.
package enum BrokerRole: String, Sendable, CaseIterable {
    /// Publishes jobs and reads replies from its own queues.
    case producer
    /// Consumes jobs; writes results, replies, retry copies and dead letters; writes and reads the fleet's reports.
    case worker
    /// Reads results and the fleet's reports, and watches through tap queues of its own.
    case monitor
    /// Reads dead letters and publishes jobs again.
    case replayer
    /// Makes and changes exchanges, queues, bindings and policies.
    case topology

    /// The three expressions that name what a user may configure, write and read.
    ///
    /// [Access control](https://www.rabbitmq.com/docs/access-control)
    package struct Permissions: Sendable, Equatable {
        /// What may be declared and deleted.
        package let configure: String
        /// What may be published to, and which queues may be bound.
        package let write: String
        /// What may be consumed, and which exchanges may be bound to.
        package let read: String
    }

    /// The user name that `topology render --users` gives to the role.
    package var userName: String { "apns-\(rawValue)" }

    /// The management tag, or none: changing policies needs one.
    package var tag: String? { self == .topology ? "policymaker" : nil }

    /// The permissions of a user with this role.
    ///
    /// - Parameter user: The user's name, part of a producer's reply queues; special characters are escaped.
    package func permissions(user: String) -> Permissions {
        let nothing = "^$"
        switch self {
        case .producer:
            let own = "apns\\.q\\.reply\\.\(Self.escaped(user))\\..+"
            return Permissions(
                configure: "^\(own)$", write: "^(apns\\.jobs|\(own))$", read: "^(apns\\.replies|\(own))$")
        case .worker:
            return Permissions(
                configure: nothing, write: "^apns\\.(results|dead|replies|fleet|retry\\..+)$",
                read: "^apns\\.q\\.(jobs\\..+|fleet)$")
        case .monitor:
            let own = "apns\\.q\\.tap\\..+"
            return Permissions(
                configure: "^\(own)$", write: "^\(own)$",
                read: "^(apns\\.results|apns\\.dead|apns\\.q\\.fleet|apns\\.q\\.results(\\.[a-z0-9-]+)?|\(own))$")
        case .replayer:
            return Permissions(configure: nothing, write: "^apns\\.jobs$", read: "^apns\\.q\\.dead(\\.tokens)?$")
        case .topology:
            return Permissions(configure: "^apns\\..+$", write: "^apns\\..+$", read: "^apns\\..+$")
        }
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if !character.isLetter, !character.isNumber, character != "-", character != "_" { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }
}

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
