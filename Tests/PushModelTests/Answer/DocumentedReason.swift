import Testing

/// One reason that APNs documents for `/3/device`, and what the worker does about it.
struct DocumentedReason: Sendable, CustomTestStringConvertible {
    /// The kinds of reactions, each with its words on the page.
    enum Reaction: String, Sendable, CaseIterable {
        case dropToken = "`dead_token`"
        case fixTopic = "`rejected`, `fix_topic`"
        case fixRequest = "`rejected`, `fix_request`"
        case park = "park"
        case freshToken = "fresh token, then park"
        case newConnection = "resend, then park"
        case newConnectionThenRetry = "resend, then retry"
        case retry = "retry"
        case rest = "rest"
    }

    let status: Int
    let name: String
    let reaction: Reaction

    init(_ status: Int, _ name: String, _ reaction: Reaction) {
        self.status = status
        self.name = name
        self.reaction = reaction
    }

    var testDescription: String { "\(status) \(name)" }

    /// Apple's list: "Handling notification responses from APNs"; the second spelling of the key's environment was
    /// seen on the wire.
    static let all: [DocumentedReason] = [
        .init(400, "BadCollapseId", .fixRequest), .init(400, "BadDeviceToken", .dropToken),
        .init(400, "BadExpirationDate", .fixRequest), .init(400, "BadMessageId", .fixRequest),
        .init(400, "BadPriority", .fixRequest), .init(400, "BadTopic", .fixTopic),
        .init(400, "DeviceTokenNotForTopic", .fixTopic), .init(400, "DuplicateHeaders", .fixRequest),
        .init(400, "IdleTimeout", .newConnectionThenRetry), .init(400, "InvalidPushType", .fixRequest),
        .init(400, "MissingDeviceToken", .fixRequest), .init(400, "MissingTopic", .fixTopic),
        .init(400, "PayloadEmpty", .fixRequest), .init(400, "TopicDisallowed", .fixTopic),
        .init(403, "BadCertificate", .park), .init(403, "BadCertificateEnvironment", .park),
        .init(403, "BadEnvironmentKeyIdInToken", .park), .init(403, "BadEnvironmentKeyInToken", .park),
        .init(403, "ExpiredProviderToken", .freshToken), .init(403, "Forbidden", .park),
        .init(403, "InvalidProviderToken", .park), .init(403, "MissingProviderToken", .park),
        .init(403, "UnrelatedKeyIdInToken", .newConnection),
        .init(404, "BadPath", .fixRequest), .init(405, "MethodNotAllowed", .fixRequest),
        .init(410, "ExpiredToken", .dropToken), .init(410, "Unregistered", .dropToken),
        .init(413, "PayloadTooLarge", .fixRequest),
        .init(429, "TooManyProviderTokenUpdates", .park), .init(429, "TooManyRequests", .rest),
        .init(500, "InternalServerError", .retry), .init(503, "ServiceUnavailable", .retry),
        .init(503, "Shutdown", .newConnectionThenRetry),
    ]
}
