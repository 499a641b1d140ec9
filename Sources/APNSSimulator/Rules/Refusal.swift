import Text

/// An answer of APNs that is not 200: a status, a reason and what goes with it.
///
/// See Apple, "Handling notification responses from APNs":
/// <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct Refusal: Hashable, Sendable {
    /// The HTTP status.
    package var status: Int

    /// The text of `reason` in the body.
    package var reason: String

    /// When the device token became invalid, in milliseconds since 1970; nil to send none. Apple documents it for
    /// status 410 only, but the simulator sends it with any status.
    package var timestamp: Int64?

    /// Seconds for a `retry-after` header. Apple documents none; scenarios may ask for it.
    package var retryAfter: Int?

    /// Makes a refusal.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - reason: The reason text.
    ///   - timestamp: Milliseconds since 1970, for status 410.
    ///   - retryAfter: Seconds for a `retry-after` header.
    package init(_ status: Int, _ reason: String, timestamp: Int64? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    /// The JSON body of the answer.
    var body: [UInt8] {
        var text: [UInt8] = Array("{\"reason\":\"".utf8)
        JSONEscaping.append(reason.utf8, to: &text)
        text.append(UInt8(ascii: "\""))
        if let timestamp {
            text.append(contentsOf: ",\"timestamp\":\(timestamp)".utf8)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}

extension Refusal {
    /// `apns-collapse-id` is empty or longer than 64 bytes.
    package static let badCollapseID = Refusal(400, "BadCollapseId")
    /// The device token is malformed, unknown or of the other environment.
    package static let badDeviceToken = Refusal(400, "BadDeviceToken")
    /// `apns-expiration` is not a number of seconds.
    package static let badExpirationDate = Refusal(400, "BadExpirationDate")
    /// `apns-id` is not a UUID.
    package static let badMessageID = Refusal(400, "BadMessageId")
    /// `apns-priority` is not 10, 5 or 1, or is 10 on a background push.
    package static let badPriority = Refusal(400, "BadPriority")
    /// `apns-topic` cannot be a topic.
    package static let badTopic = Refusal(400, "BadTopic")
    /// The device token belongs to another app or push type.
    package static let deviceTokenNotForTopic = Refusal(400, "DeviceTokenNotForTopic")
    /// A header of a push came more than once.
    package static let duplicateHeaders = Refusal(400, "DuplicateHeaders")
    /// The connection was idle for too long.
    package static let idleTimeout = Refusal(400, "IdleTimeout")
    /// `apns-push-type` is not one of Apple's.
    package static let invalidPushType = Refusal(400, "InvalidPushType")
    /// The path ends before the device token.
    package static let missingDeviceToken = Refusal(400, "MissingDeviceToken")
    /// `apns-topic` is needed and absent.
    package static let missingTopic = Refusal(400, "MissingTopic")
    /// There is no payload, or the payload is not one JSON object.
    package static let payloadEmpty = Refusal(400, "PayloadEmpty")
    /// The credential may not push to this topic.
    package static let topicDisallowed = Refusal(400, "TopicDisallowed")
    /// The client certificate is invalid.
    package static let badCertificate = Refusal(403, "BadCertificate")
    /// The client certificate is for the other environment.
    package static let badCertificateEnvironment = Refusal(403, "BadCertificateEnvironment")
    /// The provider token is older than an hour.
    package static let expiredProviderToken = Refusal(403, "ExpiredProviderToken")
    /// The action is not allowed.
    package static let forbidden = Refusal(403, "Forbidden")
    /// The provider token is malformed, wrongly signed, or of a key that is unknown or revoked.
    package static let invalidProviderToken = Refusal(403, "InvalidProviderToken")
    /// There is neither a provider token nor a client certificate.
    package static let missingProviderToken = Refusal(403, "MissingProviderToken")
    /// The key is unrelated to the key of the connection's first token.
    package static let unrelatedKeyID = Refusal(403, "UnrelatedKeyIdInToken")
    /// The key is for the other environment, spelled as documented.
    package static let badEnvironmentKeyID = Refusal(403, "BadEnvironmentKeyIdInToken")
    /// The path is not one of the service's.
    package static let badPath = Refusal(404, "BadPath")
    /// The path does not take the method.
    package static let methodNotAllowed = Refusal(405, "MethodNotAllowed")
    /// The device token has expired.
    package static let expiredToken = Refusal(410, "ExpiredToken")
    /// The device token is inactive for the topic.
    package static let unregistered = Refusal(410, "Unregistered")
    /// The payload is larger than its push type allows.
    package static let payloadTooLarge = Refusal(413, "PayloadTooLarge")
    /// The provider token was changed too often.
    package static let tooManyProviderTokenUpdates = Refusal(429, "TooManyProviderTokenUpdates")
    /// Too many pushes in a row to one device token.
    package static let tooManyRequests = Refusal(429, "TooManyRequests")
    /// The server failed.
    package static let internalServerError = Refusal(500, "InternalServerError")
    /// The service is unavailable.
    package static let serviceUnavailable = Refusal(503, "ServiceUnavailable")
    /// The server is shutting down.
    package static let shutdown = Refusal(503, "Shutdown")

    /// Every documented refusal of `/3/device`, by status, in a fixed order that ``DeviceTokenPrefix`` counts on.
    package static let documented: [Refusal] = [
        badDeviceToken, badCollapseID, badExpirationDate, badMessageID, badPriority, badTopic, deviceTokenNotForTopic,
        duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic, payloadEmpty,
        topicDisallowed,
        invalidProviderToken, badCertificate, badCertificateEnvironment, expiredProviderToken, forbidden,
        missingProviderToken, unrelatedKeyID, badEnvironmentKeyID,
        badPath, methodNotAllowed, unregistered, expiredToken, payloadTooLarge, tooManyRequests,
        tooManyProviderTokenUpdates, internalServerError, serviceUnavailable, shutdown,
    ]

    /// The refusals of broadcasts and of broadcast channel management that `/3/device` does not know, by status.
    ///
    /// See Apple, "Handling error responses from Apple Push Notification service":
    /// <https://developer.apple.com/documentation/usernotifications/handling-error-responses-from-apns>
    package static let broadcast: [Refusal] = [
        featureNotEnabled, missingChannelID, badChannelID, channelNotRegistered, badRequestParams, badRequestPayload,
        missingPushType, cannotCreateChannelConfig, missingChannelQueueSize, topicMismatch, broadcastUnavailable,
    ]

    /// The service for broadcasts is unavailable, in the spelling of its own table.
    static let broadcastUnavailable = Refusal(503, "Service Unavailable")

    /// Refusals whose reason APNs was seen to spell differently from Apple's pages.
    package static let observed: [Refusal] = [badEnvironmentKey]

    /// The key is for the other environment, spelled as APNs was seen to send it.
    package static let badEnvironmentKey = Refusal(403, "BadEnvironmentKeyInToken")

    /// Every refusal a script can ask for by name. ``DeviceTokenPrefix`` counts on the order.
    package static let known = documented + broadcast + observed

    /// Looks a refusal up by its reason text.
    ///
    /// - Parameter reason: The text, such as `Unregistered`.
    /// - Returns: The refusal, or nil where Apple documents no such reason and APNs was not seen to send it.
    package static func documented(reason: String) -> Refusal? {
        known.first { $0.reason == reason }
    }
}
