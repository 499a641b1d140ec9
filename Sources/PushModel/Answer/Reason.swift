/// Why a notification ended as it did: Apple's reason strings, plus our own for what never reached APNs.
///
/// A listed reason is held as one byte. A reason that is not listed is kept as its text.
/// Apple's list:
/// <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct Reason: RawRepresentable, Hashable, Sendable {
    /// The reasons that have a name in this module, each explained at the constant of its name below; the raw value
    /// is the text on the wire.
    enum Known: String, CaseIterable, Sendable {
        case badCollapseID = "BadCollapseId"
        case badDeviceToken = "BadDeviceToken"
        case badExpirationDate = "BadExpirationDate"
        case badMessageID = "BadMessageId"
        case badPriority = "BadPriority"
        case badTopic = "BadTopic"
        case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
        case duplicateHeaders = "DuplicateHeaders"
        case idleTimeout = "IdleTimeout"
        case invalidPushType = "InvalidPushType"
        case missingDeviceToken = "MissingDeviceToken"
        case missingTopic = "MissingTopic"
        case payloadEmpty = "PayloadEmpty"
        case topicDisallowed = "TopicDisallowed"
        case badCertificate = "BadCertificate"
        case badCertificateEnvironment = "BadCertificateEnvironment"
        case expiredProviderToken = "ExpiredProviderToken"
        case forbidden = "Forbidden"
        case invalidProviderToken = "InvalidProviderToken"
        case missingProviderToken = "MissingProviderToken"
        case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
        case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
        case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
        case badPath = "BadPath"
        case methodNotAllowed = "MethodNotAllowed"
        case expiredToken = "ExpiredToken"
        case unregistered = "Unregistered"
        case payloadTooLarge = "PayloadTooLarge"
        case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
        case tooManyRequests = "TooManyRequests"
        case internalServerError = "InternalServerError"
        case serviceUnavailable = "ServiceUnavailable"
        case shutdown = "Shutdown"

        case badChannelID = "BadChannelId"
        case badRequestParams = "BadRequestParams"
        case badRequestPayload = "BadRequestPayload"
        case cannotCreateChannelConfig = "CannotCreateChannelConfig"
        case channelNotRegistered = "ChannelNotRegistered"
        case featureNotEnabled = "FeatureNotEnabled"
        case missingChannelID = "MissingChannelId"
        case missingChannelQueueSize = "MissingChannelQueueSize"
        case missingPushType = "MissingPushType"
        case serviceUnavailableSpaced = "Service Unavailable"
        case topicMismatch = "TopicMismatch"

        case ambiguousDeviceToken = "AmbiguousDeviceToken"
        case badContentType = "BadContentType"
        case badDeadline = "BadDeadline"
        case badEncoding = "BadEncoding"
        case badEnvironment = "BadEnvironment"
        case badHeaders = "BadHeaders"
        case badJobID = "BadJobId"
        case badJSON = "BadJSON"
        case badNotBefore = "BadNotBefore"
        case badOnUnknown = "BadOnUnknown"
        case badOperation = "BadOperation"
        case badReference = "BadReference"
        case badResults = "BadResults"
        case badStoragePolicy = "BadStoragePolicy"
        case badType = "BadType"
        case bodyTooLarge = "BodyTooLarge"
        case deadlinePassed = "DeadlinePassed"
        case expirationPassed = "ExpirationPassed"
        case heldFull = "HeldFull"
        case jobIDMismatch = "JobIdMismatch"
        case missingEnvironment = "MissingEnvironment"
        case noAnswer = "NoAnswer"
        case noRoute = "NoRoute"
        case notConfigured = "NotConfigured"
        case poison = "Poison"
        case routingMismatch = "RoutingMismatch"
        case tooManyTokens = "TooManyTokens"
        case unreachable = "Unreachable"
        case untrustedSource = "UntrustedSource"
    }

    /// The listed reason, or nil where `other` holds its text.
    let known: Known?
    /// The text of a reason that is not listed.
    private let other: String?

    /// The reason with this text; unlisted text is kept as it is.
    ///
    /// - Parameter rawValue: The reason as APNs or a result spells it.
    package init(rawValue: String) {
        let known = Known(rawValue: rawValue)
        self.known = known
        other = known == nil ? rawValue : nil
    }

    /// The reason that these bytes spell. A listed reason needs no allocation. Others are repaired to UTF-8.
    ///
    /// - Parameter utf8: The text of a `reason` field.
    package init(utf8 bytes: Span<UInt8>) {
        for candidate in Self.all where bytes.matches(candidate.rawValue) {
            known = candidate
            other = nil
            return
        }
        known = nil
        other = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// A listed reason.
    private init(_ known: Known) {
        self.known = known
        other = nil
    }

    /// All listed reasons, built once because `allCases` builds a new array at each use.
    private static let all = Known.allCases

    /// The text on the wire.
    package var rawValue: String { known?.rawValue ?? other ?? "" }
}

// MARK: - Apple's reasons for /3/device
extension Reason {
    /// 400: the collapse identifier is longer than 64 bytes. Ours too; also when it is empty, cannot be an HTTP/2
    /// header value, or comes with a broadcast channel.
    package static let badCollapseID = Reason(.badCollapseID)
    /// 400: the device token is malformed or belongs to the other environment. Ours: it is not text, not hexadecimal,
    /// too long, or of an odd length.
    package static let badDeviceToken = Reason(.badDeviceToken)
    /// 400: `apns-expiration` is not a time in seconds. Ours: the expiration is neither 0 nor a plausible time.
    package static let badExpirationDate = Reason(.badExpirationDate)
    /// 400: `apns-id` is not a UUID. Ours too; also when one is given for many tokens.
    package static let badMessageID = Reason(.badMessageID)
    /// 400: `apns-priority` is not 1, 5 or 10, or is 10 for a background push. Ours too; also when a broadcast's is 1.
    package static let badPriority = Reason(.badPriority)
    /// 400: the topic is not a legal one. Ours too.
    package static let badTopic = Reason(.badTopic)
    /// 400: the token belongs to another app or push type.
    package static let deviceTokenNotForTopic = Reason(.deviceTokenNotForTopic)
    /// 400: a header was repeated. Ours: a header that has a meaning appears twice in the job.
    package static let duplicateHeaders = Reason(.duplicateHeaders)
    /// 400: the connection was idle for too long.
    package static let idleTimeout = Reason(.idleTimeout)
    /// 400: `apns-push-type` is not one. Ours: it cannot be one, or a broadcast channel's is not `liveactivity`.
    package static let invalidPushType = Reason(.invalidPushType)
    /// 400: no device token. Ours too.
    package static let missingDeviceToken = Reason(.missingDeviceToken)
    /// 400: no topic. Ours too.
    package static let missingTopic = Reason(.missingTopic)
    /// 400: no payload. Ours too.
    package static let payloadEmpty = Reason(.payloadEmpty)
    /// 400: pushing to this topic is not allowed. Ours: a broadcast channel's topic has the suffix of another push
    /// type.
    package static let topicDisallowed = Reason(.topicDisallowed)
    /// 403: the certificate is invalid.
    package static let badCertificate = Reason(.badCertificate)
    /// 403: the certificate is for the other environment.
    package static let badCertificateEnvironment = Reason(.badCertificateEnvironment)
    /// 403: the provider token is older than an hour.
    package static let expiredProviderToken = Reason(.expiredProviderToken)
    /// 403: the action is not allowed.
    package static let forbidden = Reason(.forbidden)
    /// 403: the provider token or its signature is invalid.
    package static let invalidProviderToken = Reason(.invalidProviderToken)
    /// 403: neither certificate nor provider token.
    package static let missingProviderToken = Reason(.missingProviderToken)
    /// 403: the key is unrelated to the one first used on this connection.
    package static let unrelatedKeyIDInToken = Reason(.unrelatedKeyIDInToken)
    /// 403: the key is for the other environment, as Apple documents it.
    package static let badEnvironmentKeyIDInToken = Reason(.badEnvironmentKeyIDInToken)
    /// 403: the key is for the other environment, as it was seen on the wire.
    package static let badEnvironmentKeyInToken = Reason(.badEnvironmentKeyInToken)
    /// 404: the path is wrong.
    package static let badPath = Reason(.badPath)
    /// 405: the method is not POST.
    package static let methodNotAllowed = Reason(.methodNotAllowed)
    /// 410: the device token has expired.
    package static let expiredToken = Reason(.expiredToken)
    /// 410: the device token is no longer active for the topic.
    package static let unregistered = Reason(.unregistered)
    /// 413: the payload is over 4096 bytes (5120 for VoIP and broadcasts). Ours too.
    package static let payloadTooLarge = Reason(.payloadTooLarge)
    /// 429: the provider token changes too often.
    package static let tooManyProviderTokenUpdates = Reason(.tooManyProviderTokenUpdates)
    /// 429: too many notifications in a row to one device.
    package static let tooManyRequests = Reason(.tooManyRequests)
    /// 500: an error inside APNs.
    package static let internalServerError = Reason(.internalServerError)
    /// 503: APNs is unavailable.
    package static let serviceUnavailable = Reason(.serviceUnavailable)
    /// 503: this APNs server is shutting down.
    package static let shutdown = Reason(.shutdown)
}

// MARK: - Apple's reasons for broadcast channels
// <https://developer.apple.com/documentation/usernotifications/handling-error-responses-from-apns>
extension Reason {
    /// 400: the broadcast channel's identifier is not base64, or too long. Ours too.
    package static let badChannelID = Reason(.badChannelID)
    /// 400: the request has an attribute that APNs does not know.
    package static let badRequestParams = Reason(.badRequestParams)
    /// 400: the body cannot be parsed; ours: the operation takes no payload.
    package static let badRequestPayload = Reason(.badRequestPayload)
    /// 400: the app has as many broadcast channels as it may have.
    package static let cannotCreateChannelConfig = Reason(.cannotCreateChannelConfig)
    /// 400: there is no such broadcast channel in this environment.
    package static let channelNotRegistered = Reason(.channelNotRegistered)
    /// 400: the broadcast capability is off for the app.
    package static let featureNotEnabled = Reason(.featureNotEnabled)
    /// 400: the request names no broadcast channel. Ours too.
    package static let missingChannelID = Reason(.missingChannelID)
    /// 400: the storage policy is missing or invalid; seen on the wire, not documented.
    package static let missingChannelQueueSize = Reason(.missingChannelQueueSize)
    /// 400: the request has no push type.
    package static let missingPushType = Reason(.missingPushType)
    /// 503: as `serviceUnavailable`, with the space that Apple's list for broadcast channels prints.
    package static let serviceUnavailableSpaced = Reason(.serviceUnavailableSpaced)
    /// 403: the credential does not cover the bundle identifier in the path.
    package static let topicMismatch = Reason(.topicMismatch)
}

// MARK: - Our own reasons
extension Reason {
    /// `device_token` and `device_tokens` are both given, or a device token and a broadcast channel.
    package static let ambiguousDeviceToken = Reason(.ambiguousDeviceToken)
    /// The content type names neither form of a job.
    package static let badContentType = Reason(.badContentType)
    /// The deadline cannot be read.
    package static let badDeadline = Reason(.badDeadline)
    /// Text that is not valid UTF-8, or a content encoding that is not supported.
    package static let badEncoding = Reason(.badEncoding)
    /// The environment is neither `production` nor `development`.
    package static let badEnvironment = Reason(.badEnvironment)
    /// A header that cannot be read, or a header table over its limits.
    package static let badHeaders = Reason(.badHeaders)
    /// The job id is empty, too long or not text.
    package static let badJobID = Reason(.badJobID)
    /// The body is not the JSON object it should be.
    package static let badJSON = Reason(.badJSON)
    /// `not_before` cannot be read, is too far away, or leaves no time in which the job could be sent.
    package static let badNotBefore = Reason(.badNotBefore)
    /// `on_unknown` is neither `retry` nor `report`.
    package static let badOnUnknown = Reason(.badOnUnknown)
    /// The operation is unknown to `BroadcastChannelOperation`, or fields of the job make no sense with it.
    package static let badOperation = Reason(.badOperation)
    /// The reference is too long or not text.
    package static let badReference = Reason(.badReference)
    /// `results` is another word than `batch`.
    package static let badResults = Reason(.badResults)
    /// The storage policy of a new broadcast channel is missing or unknown, or another operation has one.
    package static let badStoragePolicy = Reason(.badStoragePolicy)
    /// A field of the envelope has the wrong JSON type.
    package static let badType = Reason(.badType)
    /// The body is over 256 KiB.
    package static let bodyTooLarge = Reason(.bodyTooLarge)
    /// The job's deadline passed before the notification could be sent, or would pass before its next attempt.
    package static let deadlinePassed = Reason(.deadlinePassed)
    /// The notification's `expiration` passed before it could be sent, or would pass before its next attempt.
    package static let expirationPassed = Reason(.expirationPassed)
    /// The broker's queue in which the job was to wait for its time, or for the end of its campaign's pause, is full.
    package static let heldFull = Reason(.heldFull)
    /// The property `message_id` and the body's `id` differ.
    package static let jobIDMismatch = Reason(.jobIDMismatch)
    /// Neither the routing key nor the body names an environment.
    package static let missingEnvironment = Reason(.missingEnvironment)
    /// The notification was sent and never answered.
    package static let noAnswer = Reason(.noAnswer)
    /// The routing key matches no route.
    package static let noRoute = Reason(.noRoute)
    /// The worker's configuration names no host for the job's operation, or no tier in which a job could wait until its
    /// `not_before`.
    package static let notConfigured = Reason(.notConfigured)
    /// The job came back to its queue so often that it may have ended workers.
    package static let poison = Reason(.poison)
    /// The job's environment and topic contradict its routing key or the route that received it.
    package static let routingMismatch = Reason(.routingMismatch)
    /// More than 1,000 device tokens in one job.
    package static let tooManyTokens = Reason(.tooManyTokens)
    /// No connection to the host that the job needs could be made, or APNs provably did not take the request 100 times.
    package static let unreachable = Reason(.unreachable)
    /// The job came by an exchange, or by the dead letters of a queue, that nobody vouches for.
    package static let untrustedSource = Reason(.untrustedSource)
}
