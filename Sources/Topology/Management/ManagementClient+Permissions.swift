import Text

/// What a user of the broker may do in a virtual host. An element of `/api/vhosts/<vhost>/permissions`.
package struct UserPermissions: Decodable, Equatable, Sendable {
    /// The user.
    package let user: String
    /// The names that the user may configure.
    package let configure: String
    /// The names that the user may write.
    package let write: String
    /// The names that the user may read.
    package let read: String

    /// Permissions from their parts.
    package init(user: String, configure: String, write: String, read: String) {
        (self.user, self.configure, self.write, self.read) = (user, configure, write, read)
    }

    /// The users that reach the reply queues of other users, because their name is the beginning of the other name and
    /// their expression takes dots, as it did in earlier versions.
    ///
    /// - Parameters:
    ///   - all: The permissions of all users.
    ///   - virtualHost: Where they apply.
    /// - Returns: A sentence with the command that mends it, for each such pair.
    package static func overlaps(among all: [UserPermissions], virtualHost: String) -> [String] {
        all.flatMap { user in
            all.filter { $0.user.hasPrefix("\(user.user).") && user.reachesReplies(of: $0.user) }.map { other in
                let own = BrokerRole.producer.permissions(user: user.user)
                let words = [user.user, own.configure, own.write, own.read].map(ShellText.quoted)
                return "the user \(user.user) may read and delete the reply queues of the user \(other.user), whose "
                    + "name begins with the same word and a dot. If it is a producer, mend it: "
                    + "rabbitmqctl set_permissions -p \(ShellText.quoted(virtualHost)) \(words.joined(separator: " "))"
            }
        }
    }

    /// Whether the user may do something with the reply queues of another user, and not with those of all users.
    private func reachesReplies(of other: String) -> Bool {
        let theirs = TopologyNames.replyQueue(user: other, id: "0")
        // No user has this name: an expression that covers it covers everything.
        let anybodys = TopologyNames.replyQueue(user: "\u{1}", id: "0")
        return [configure, write, read].contains { expression in
            // An expression that cannot be judged covers nothing.
            guard let pattern = BrokerPattern(expression) else { return false }
            return pattern.matches(theirs) && !pattern.matches(anybodys)
        }
    }
}

extension ManagementClient {
    /// The permissions of all users in a virtual host.
    ///
    /// - Parameter virtualHost: The virtual host.
    /// - Returns: The permissions; nil if the user may not see them, which needs the tag `administrator`.
    package func permissions(virtualHost: String) async throws(ManagementError) -> [UserPermissions]? {
        do throws(ManagementError) {
            return try await list(["vhosts", virtualHost, "permissions"], of: [UserPermissions].self)
        } catch {
            guard error.code == .refused else { throw error }
            return nil
        }
    }
}
