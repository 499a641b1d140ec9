import PushModel
import Text

/// A device token that APNs calls dead, according to one letter.
struct DeadToken {
    /// The environment and topic that a device token is dead for.
    struct Place: Hashable {
        /// Which APNs.
        var environment: String
        /// The topic.
        var topic: String
    }

    /// The device token.
    var token: String
    /// The environment and topic that it is dead for.
    var place: Place
    /// Since when APNs knows that the device token is dead, in milliseconds since 1970; nil where APNs does not say.
    var invalidSince: Int64?
    /// When the worker wrote the letter, in milliseconds since 1970.
    var diedAt: Int64
    /// Why APNs calls it dead.
    var reason: String?
    /// Whether it may be alive, and must not be deleted.
    var isHeld: Bool

    /// Since when the device token is dead, in milliseconds since 1970: by APNs, else by the letter.
    var deadSince: Int64 { invalidSince ?? diedAt }

    /// Whether this letter's word counts more than another letter's about the same token: `hold` counts less than
    /// `drop_token`, and of two equal ones the later death counts.
    ///
    /// - Parameter other: The token of the other letter.
    func outranks(_ other: DeadToken) -> Bool {
        isHeld == other.isHeld ? deadSince > other.deadSince : !isHeld
    }

    private var action: String { "\((isHeld ? Action.hold : .dropToken).text)" }

    /// A row with tabs: token, topic, environment, time of death, action.
    var line: [UInt8] {
        let columns = [
            token, place.topic, place.environment, DateTime.write(deadSince, withMilliseconds: true), action,
        ]
        return Array(columns.map(\.printable).joined(separator: "\t").utf8)
    }

    /// The token for programs. A name that results have, too, means the same as in results.
    var json: JSON {
        .object([
            ("\(ResultField.deviceToken.name)", .text(token)), ("\(ResultField.topic.name)", .text(place.topic)),
            ("\(ResultField.environment.name)", .text(place.environment)), ("dead_since", .integer(deadSince)),
            ("\(ResultField.tokenInvalidSince.name)", .optional(invalidSince)),
            ("\(ResultField.reason.name)", .optional(reason)), ("\(ResultField.action.name)", .text(action)),
        ])
    }
}
