import HTTP2

/// A broadcast request as it came: headers, path and body. Nothing is checked yet.
struct BroadcastCall {
    /// The request's headers by name. Where a header is repeated, its first value counts.
    private var values: [String: [UInt8]] = [:]
    /// The path.
    let path: BroadcastPath
    /// The body.
    let body: [UInt8]
    /// Whether the body was longer than the server keeps.
    let isTruncated: Bool

    /// Reads headers, path and body of a request.
    ///
    /// - Parameter request: The request as received.
    init(_ request: HTTP2Request) {
        for field in request.fields {
            let name = String(decoding: request.headerBytes[field.name], as: UTF8.self)
            if values[name] == nil { values[name] = Array(request.headerBytes[field.value]) }
        }
        path = BroadcastPath(values[":path"].map { $0[...] } ?? [])
        body = request.body
        isTruncated = request.bodyTruncated
    }

    /// The value of a header as text; nil where it is absent.
    ///
    /// - Parameter name: The name, lower case.
    subscript(name: StaticString) -> String? { values["\(name)"].map { String(decoding: $0, as: UTF8.self) } }

    /// The value of `authorization`, with its scheme; nil where it is absent.
    var authorization: [UInt8]? { values["authorization"] }
}

extension Refusal {
    /// The broadcast capability is off for the app.
    static let featureNotEnabled = Refusal(400, "FeatureNotEnabled")
    /// `apns-channel-id` is missing.
    static let missingChannelID = Refusal(400, "MissingChannelId")
    /// `apns-channel-id` is not padded base64, or is too long.
    static let badChannelID = Refusal(400, "BadChannelId")
    /// There is no such broadcast channel in this environment.
    static let channelNotRegistered = Refusal(400, "ChannelNotRegistered")
    /// The body has an unknown attribute.
    static let badRequestParams = Refusal(400, "BadRequestParams")
    /// The body cannot be parsed, or is longer than the server keeps.
    static let badRequestPayload = Refusal(400, "BadRequestPayload")
    /// `apns-push-type` is missing.
    static let missingPushType = Refusal(400, "MissingPushType")
    /// The app has reached the limit of broadcast channels, or the simulator has reached the limit of apps.
    static let cannotCreateChannelConfig = Refusal(400, "CannotCreateChannelConfig")
    /// The storage policy is missing, or is neither 0 nor 1. APNs was seen to answer so; Apple does not document it.
    static let missingChannelQueueSize = Refusal(400, "MissingChannelQueueSize")
    /// The credential does not cover the bundle identifier in the path.
    static let topicMismatch = Refusal(403, "TopicMismatch")

    /// Every refusal of broadcasts and of broadcast channel management, by status.
    package static let documentedForBroadcast: [Refusal] = [
        featureNotEnabled, missingChannelID, badChannelID, channelNotRegistered, badRequestParams, badRequestPayload,
        payloadEmpty, badMessageID, missingPushType, invalidPushType, badPriority, badExpirationDate,
        cannotCreateChannelConfig, topicDisallowed, missingChannelQueueSize,
        badCertificate, badCertificateEnvironment, missingProviderToken, invalidProviderToken, expiredProviderToken,
        topicMismatch, badPath, methodNotAllowed, payloadTooLarge, tooManyRequests, tooManyProviderTokenUpdates,
        internalServerError, broadcastUnavailable, shutdown,
    ]
}
