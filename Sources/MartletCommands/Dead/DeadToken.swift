import PushModel
import Text

/// A device token that APNs calls dead, as a letter tells it.
struct DeadToken {
    /// What the device token is dead for.
    struct Place: Hashable {
        /// Which APNs.
        var environment: String
        /// The topic.
        var topic: String
    }

    /// The device token.
    var token: String
    /// What it is dead for.
    var place: Place
    /// Since when APNs knows, in milliseconds since 1970, where it says so.
    var invalidSince: Int64?
    /// When the worker wrote the letter, in milliseconds since 1970.
    var diedAt: Int64
    /// Why APNs calls it dead.
    var reason: String?
    /// Whether it may be alive, and must not be deleted.
    var isHeld: Bool

    /// Since when it is dead, as far as anybody knows.
    var deadSince: Int64 { invalidSince ?? diedAt }

    /// Whether this counts more than what another letter says about the same token. What may be wrong counts least.
    ///
    /// - Parameter other: The token of the other letter.
    func outranks(_ other: DeadToken) -> Bool {
        isHeld == other.isHeld ? deadSince > other.deadSince : !isHeld
    }

    private var action: String { "\((isHeld ? Action.hold : .dropToken).text)" }

    /// A row with tabs: token, topic, environment, since when, action.
    var line: [UInt8] {
        let columns = [
            token, place.topic, place.environment, DateTime.write(deadSince, withMilliseconds: true), action,
        ]
        return Array(columns.map(\.printable).joined(separator: "\t").utf8)
    }

    /// The token for programs. Names that results have, too, mean the same there.
    var json: JSON {
        .object([
            ("\(ResultField.deviceToken.name)", .text(token)), ("\(ResultField.topic.name)", .text(place.topic)),
            ("\(ResultField.environment.name)", .text(place.environment)), ("dead_since", .integer(deadSince)),
            ("\(ResultField.tokenInvalidSince.name)", .optional(invalidSince)),
            ("\(ResultField.reason.name)", .optional(reason)), ("\(ResultField.action.name)", .text(action)),
        ])
    }
}
