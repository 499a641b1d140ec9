/// The roles of the broker's users, each with its permissions.
package enum BrokerRole: String, Sendable, CaseIterable {
    /// Publishes jobs and reads replies from its own queues.
    case producer
    /// Consumes jobs; writes results, replies, retry copies and dead letters; writes and reads the fleet's reports;
    /// reads operators' commands and the broker's dead letters. The default exchange is for replies to queues that are
    /// not bound to `apns.replies`.
    case worker
    /// Reads results, the fleet's reports and operators' commands, sees queues and nodes through the management API,
    /// and watches through tap queues of its own.
    case monitor
    /// Reads dead letters and publishes jobs again.
    case replayer
    /// Asks all workers to pause, pace, trust and cancel, and sees what they do.
    case `operator`
    /// Makes and changes exchanges, queues, bindings and policies.
    case topology

    /// The three expressions that name what a user may configure, write and read.
    ///
    /// [Access control](https://www.rabbitmq.com/docs/access-control)
    package struct Permissions: Sendable, Equatable {
        /// The names of the objects that may be declared and deleted.
        package let configure: String
        /// The names of the exchanges that may be published to, and of the queues that may be bound.
        package let write: String
        /// The names of the queues that may be consumed, and of the exchanges to which queues may be bound.
        package let read: String
    }

    /// The user name that `topology render --users` gives to the role.
    package var userName: String { "apns-\(rawValue)" }

    /// The management tag; nil for none. Changing policies needs a tag, and so does seeing queues and nodes.
    package var tag: String? {
        switch self {
        case .topology: "policymaker"
        case .monitor, .operator: "monitoring"
        case .producer, .worker, .replayer: nil
        }
    }

    /// The permissions of a user with this role.
    ///
    /// - Parameter user: The user's name. It is part of the names of a producer's reply queues. Special characters are
    ///   escaped.
    package func permissions(user: String) -> Permissions {
        let nothing = "^$"
        switch self {
        case .producer:
            // No dot after the user's: the queues of a user `shop.eu` would be those of `shop`, too.
            let own = "apns\\.q\\.reply\\.\(Self.escaped(user))\\.[^.]+"
            return Permissions(
                configure: "^\(own)$", write: "^(apns\\.jobs|\(own))$", read: "^(apns\\.replies|\(own))$")
        case .worker:
            return Permissions(
                configure: nothing, write: "^(amq\\.default|apns\\.(results|dead|replies|fleet|retry\\..+))$",
                read: "^apns\\.q\\.(jobs\\..+|fleet|control|dead\\.broker)$")
        case .monitor:
            let own = "apns\\.q\\.tap\\..+"
            return Permissions(
                configure: "^\(own)$", write: "^\(own)$",
                read:
                    "^(apns\\.results|apns\\.dead|apns\\.q\\.(fleet|control|results(\\.[a-z0-9-]+)?)|\(own))$")
        case .replayer:
            return Permissions(configure: nothing, write: "^apns\\.jobs$", read: "^apns\\.q\\.dead(\\.tokens)?$")
        case .operator:
            // Of a queue for which a user has no permission at all, RabbitMQ 4.3 does not tell whether it is there. The
            // right to write allows nothing: only an exchange that the user may read can be bound to a queue.
            return Permissions(
                configure: nothing, write: "^apns\\.(control|q\\.jobs\\..+)$", read: "^apns\\.q\\.(control|fleet)$")
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
